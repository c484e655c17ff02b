/* SPDX-License-Identifier: MIT */
/*
 * The protocol of utils/proto/ring.h, every interleaving of it: a task that is interrupted by a signal handler
 * anywhere, left for good by a jump out of that handler, and killed anywhere, and a recorder.
 *
 *	spin -a ring.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
 *
 * Checked: a slot that is taken holds a whole record; what is committed is taken exactly once; records come in the
 * order of their reservation; after the task's death nothing committed is left behind; nobody waits for ever.
 *
 * One step here is one memory access of the real code.  x86 keeps stores in order, so interleaving is all that can
 * happen; elsewhere the release stores of word and tail and the acquire loads of both are what
 * keeps this model true.
 */
#define SIZE  2			/* slots of the ring */
#define PUTS  3			/* records of the task */
#define INTERRUPTS 1		/* records of handlers */
#define TOTAL (PUTS + INTERRUPTS)

byte time[SIZE];		/* word 0: here the record's position + 1 */
byte word[SIZE];		/* word 1: likewise; 0 = free */
byte head, tail;		/* in slots, ever */
byte limit = SIZE;		/* the producer's copy of tail + SIZE */
byte waiting;			/* the position that was waited for last */
byte interrupts = INTERRUPTS;
bool is_dead;

bool committed[TOTAL + 1];	/* by position */
byte taken[TOTAL + 1];
byte last_taken;

/* Wait for room, unless killed: then the slot stays a hole. */
inline wait_for_room(pos)
{
	if
	:: pos < limit
	:: else ->
		waiting = pos;
		pos < tail + SIZE;
		limit = tail + SIZE
	fi
}

/* A handler runs to its end while the task stands still; it may be killed inside, too. */
inline interrupt()
{
	if
	:: interrupts > 0 ->
		interrupts--;
		atomic { hpos = head; head++ }
		wait_for_room(hpos);
		time[hpos % SIZE] = hpos + 1;
		d_step { word[hpos % SIZE] = hpos + 1; committed[hpos] = true }
	:: true
	fi
}

proctype task()
{
	byte pos, hpos, i;

	{
		for (i : 1 .. PUTS) {
			/* one instruction reserves, two stores fill and commit */
			atomic { pos = head; head++ }
			interrupt();
			wait_for_room(pos);
			interrupt();
			if
			:: time[pos % SIZE] = pos + 1;
				interrupt();
				d_step { word[pos % SIZE] = pos + 1; committed[pos] = true }
			:: skip		/* the handler jumped: a hole */
			fi
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

inline take(slot)
{
	assert(time[slot] == word[slot]);		/* whole */
	assert(word[slot] > last_taken);		/* in order, once */
	last_taken = word[slot];
	taken[word[slot] - 1]++
}

proctype recorder()
{
	byte i;

	/* While the task lives: on from tail, word first, then the slot is free, then tail. */
	do
	:: word[tail % SIZE] != 0 ->
		take(tail % SIZE);
		word[tail % SIZE] = 0;
		tail++
	/* The thread waits for what comes behind this slot, so it will not fill it. */
	:: word[tail % SIZE] == 0 && waiting >= tail + SIZE -> tail++
	:: is_dead -> break
	od;
	/* After its death: every slot once round, holes skipped. */
	for (i : 0 .. SIZE - 1) {
		if
		:: word[(tail + i) % SIZE] != 0 ->
			take((tail + i) % SIZE);
			word[(tail + i) % SIZE] = 0
		:: else
		fi
	}
	for (i : 0 .. TOTAL - 1) {
		assert(taken[i] == committed[i])
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
