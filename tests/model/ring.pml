/* SPDX-License-Identifier: MIT */
/*
 * The protocol of utils/proto/ring.h in every interleaving: a recorder, and a task that puts records
 * with and without a payload, that a signal handler interrupts anywhere, that a jump out of that
 * handler leaves for good anywhere, and that is killed anywhere.
 *
 *	spin -a ring.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
 *
 * Checked: a record that is taken is whole, with its payload; what is committed is taken exactly
 * once; records come in the order of their reservation; after the task's death nothing committed is
 * left behind; all units are free in the end; nothing waits for ever.
 *
 * One step here is one memory access of the real code.  x86 keeps stores in order, so interleaving
 * is all that can happen; elsewhere the release stores of word and tail and the acquire loads of
 * both are what keeps this model true.
 */
#define SIZE   5		/* units of the ring: the longest record of each, so that no handler */
#define LONG   3		/* has to wait for the record that it interrupts */
#define SHORT  2
#define PUTS   2		/* records of the task */
#define TOTAL  (PUTS * LONG + SHORT)

/* What a word says besides whose it is. */
#define RECORD 16		/* no payload */
#define HEADER 32		/* a payload follows */
#define UNIT   48		/* of a payload, another follows */
#define LAST   64
#define OWNER  15
#define KIND(word) ((word) - ((word) & OWNER))

byte time[SIZE];		/* word 0: here the position of the record + 1 */
byte word[SIZE];		/* word 1: likewise, and the kind; 0 = free */
byte head, tail;		/* in units, ever */
byte limit = SIZE;		/* the producer's copy of tail + SIZE */
byte waiting;			/* the unit that was waited for last */
bool interrupts = true;
bool is_dead;

bool committed[TOTAL + 1];	/* by position */
byte taken[TOTAL + 1];
byte last_taken;

/* Wait for room, unless killed: then the extent stays a hole. */
inline wait_for_room(pos, nr)
{
	if
	:: pos + nr <= limit
	:: else ->
		waiting = pos + nr - 1;
		pos + nr <= tail + SIZE;
		limit = tail + SIZE
	fi
}

/* The bytes of a unit, then its word. */
inline store(at, owner, kind)
{
	time[(at) % SIZE] = owner + 1;
	interrupt();
	word[(at) % SIZE] = kind + owner + 1
}

inline commit(pos, nr)
{
	time[pos % SIZE] = pos + 1;
	interrupt();
	d_step {
		word[pos % SIZE] = pos + 1 + (nr == 1 -> RECORD : HEADER);
		committed[pos] = true
	}
}

/* A handler puts one record while the task stands still; it may be killed inside, too. */
inline interrupt()
{
	if
	:: interrupts ->
		interrupts = false;
		if
		:: hnr = 1
		:: hnr = SHORT
		fi;
		atomic { hpos = head; head = head + hnr }
		wait_for_room(hpos, hnr);
		if
		:: hnr == SHORT ->
			time[(hpos + 1) % SIZE] = hpos + 1;
			word[(hpos + 1) % SIZE] = LAST + hpos + 1
		:: else
		fi;
		time[hpos % SIZE] = hpos + 1;
		d_step {
			word[hpos % SIZE] = hpos + 1 + (hnr == 1 -> RECORD : HEADER);
			committed[hpos] = true
		}
	:: true
	fi
}

inline put()
{
	/* one instruction reserves all of it */
	atomic { pos = head; head = head + nr }
	interrupt();
	wait_for_room(pos, nr);
	interrupt();
	i = 1;
	do
	:: i < nr ->
		store(pos + i, pos, (i == nr - 1 -> LAST : UNIT));
		interrupt();
		i++
	:: i == nr -> commit(pos, nr); break
	:: break		/* the handler jumped: a hole, perhaps half filled */
	od
}

proctype task()
{
	byte pos, nr, hpos, hnr, i, n;

	{
		for (n : 1 .. PUTS) {
			if
			:: nr = 1
			:: nr = LONG
			fi;
			put()
		}
		is_dead = true
	} unless { is_dead }
}

/* SIGKILL, at any moment or never. */
proctype killer()
{
	if
	:: is_dead = true
	:: true
	fi
}

inline payload_take()
{
	do
	:: true ->
		seen = word[at % SIZE];
		assert(KIND(seen) == UNIT || KIND(seen) == LAST);
		assert((seen & OWNER) == owner);		/* of this record */
		assert(time[at % SIZE] == owner);		/* whole */
		word[at % SIZE] = 0;
		at++;
		if
		:: KIND(seen) == LAST -> break
		:: else
		fi
	od
}

/* The unit at the tail is not empty: a record, or what is left of one. */
inline take()
{
	seen = word[tail % SIZE];
	kind = KIND(seen);
	owner = seen & OWNER;
	at = tail + 1;
	if
	:: kind == RECORD || kind == HEADER ->
		assert(time[tail % SIZE] == owner);		/* whole */
		assert(owner > last_taken);			/* in order, once */
		last_taken = owner;
		taken[owner - 1]++
	:: kind == UNIT || kind == LAST -> skip			/* of a record never committed */
	fi;
	word[tail % SIZE] = 0;
	if
	:: kind == HEADER -> payload_take()
	:: else
	fi;
	tail = at
}

proctype recorder()
{
	byte seen, kind, owner, at, end, i;

	/* While the task lives: on from tail, word first, then the units are free, then tail. */
	do
	:: word[tail % SIZE] != 0 -> take()
	/* The thread waits for what comes behind this unit, so it will not fill it. */
	:: word[tail % SIZE] == 0 && waiting >= tail + SIZE -> tail++
	:: is_dead -> break
	od;
	/* After its death: every unit once round, holes skipped. */
	end = tail + SIZE;
	do
	:: tail < end && word[tail % SIZE] != 0 -> take()
	:: tail < end && word[tail % SIZE] == 0 -> tail++
	:: else -> break
	od;
	for (i : 0 .. TOTAL - 1) {
		assert(taken[i] == committed[i])
	}
	for (i : 0 .. SIZE - 1) {
		assert(word[i] == 0)
	}
}

init
{
	atomic {
		run task();
		run killer();
		run recorder()
	}
}
