/* SPDX-License-Identifier: MIT */
/*
 * The protocol of utils/proto/nursery.h in every interleaving: children that claim one place after
 * each other, put records into its ring, leave it for a larger one when it is full, end, and are
 * killed anywhere; and a recorder that looks at claims, drains, and gives the place to the next.
 *
 *	spin -a nursery.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
 *
 * Checked: what a child committed is taken exactly once, and as that child's; a place that is given
 * back is as new; each child that was not killed before it had a ring finds one or none; nothing
 * waits for ever.
 *
 * A unit's place is its number, as ring.pml has what lies within a ring.
 */
#define CHILDREN 3
#define SIZE     2		/* units of the place's ring */
#define PUTS     3		/* records of a child: more than there is room for */
#define NOBODY   0

byte who;			/* the claim: a child's number; 0 = free */
bool time;			/* is it stored? */
byte head, tail;		/* of the place's ring, in its header */
byte unit[SIZE];		/* whose record; 0 = none */

bool is_dead[CHILDREN + 1];
byte committed[CHILDREN + 1], taken[CHILDREN + 1];
byte alive = CHILDREN;

bool asks[CHILDREN + 1];	/* for a larger ring, and waits for the reply */

/* Killed, wherever that stands. */
inline killed()
{
	if
	:: skip
	:: goto dead
	fi
}

proctype child(byte self)
{
	byte pos, puts;
	bool has_claimed;

	killed();
	atomic {
		if
		:: who == NOBODY -> who = self; has_claimed = true
		:: else		/* asks for a ring of its own */
		fi
	}
	if
	:: has_claimed
	:: else -> goto dead
	fi;
	killed();
	time = true;
	do
	:: puts == PUTS -> break
	:: else ->
		killed();
		pos = head;
		head = pos + 1;		/* reserved */
		killed();
		if
		:: pos >= tail + SIZE ->
			if
			:: goto leave
			:: pos < tail + SIZE	/* the recorder has made room */
			fi
		:: else
		fi;
		d_step {
			assert(unit[pos % SIZE] == 0);
			unit[pos % SIZE] = self;
			committed[self]++
		}
		puts++
	od;
	goto dead;
leave:
	asks[self] = true;
	!asks[self];			/* not killed here: the recorder sees the end after it */
	/* The rest goes into the larger one, which is this child's alone. */
dead:
	atomic { is_dead[self] = true; alive-- }
}

proctype recorder()
{
	byte seen, owner;		/* who has the place, as far as is known */

#define DRAIN \
	do \
	:: unit[tail % SIZE] != 0 -> \
		d_step { \
			assert(unit[tail % SIZE] == owner); \
			taken[owner]++; \
			unit[tail % SIZE] = 0 \
		} \
		tail = tail + 1 \
	:: else -> break \
	od

#define GIVE_BACK \
	atomic { \
		assert(unit[0] == 0 && unit[1] == 0); \
		head = 0; \
		tail = 0; \
		owner = NOBODY \
	} \
	time = false; \
	who = NOBODY

#define LOOK \
	if \
	:: owner == NOBODY && who != NOBODY -> \
		seen = who; \
		if \
		:: time -> owner = seen \
		:: else -> \
			if \
			:: is_dead[seen] -> \
				if \
				:: !time -> GIVE_BACK \
				:: else		/* it had gone on until it ended */ \
				fi \
			:: else \
			fi \
		fi \
	:: else \
	fi

end:	do
	:: who != NOBODY && owner == NOBODY -> LOOK
	:: owner != NOBODY && unit[tail % SIZE] != 0 -> DRAIN
	:: who != NOBODY && asks[who] ->
		seen = who;
		LOOK;
		assert(owner == seen);
		DRAIN;
		GIVE_BACK;
		asks[seen] = false
	:: owner != NOBODY && is_dead[owner] ->
		DRAIN;
		GIVE_BACK
	:: alive == 0 && who == NOBODY -> break
	od;
	atomic {
		assert(taken[1] == committed[1]);
		assert(taken[2] == committed[2]);
		assert(taken[3] == committed[3])
	}
}

init {
	atomic {
		run recorder();
		run child(1);
		run child(2);
		run child(3)
	}
}
