/* SPDX-License-Identifier: MIT */
/*
 * The turns of libmcount/channel.c in every interleaving: threads that take one of few turns, wait
 * on a futex while there is none, and give it back.  No wait has a limit here: who would need it to
 * go on waits for ever, which spin reports as an invalid end state.
 *
 *	spin -a turns.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
 */
#define THREADS 4
#define TURNS   2
#define ROUNDS  1

byte asking;			/* turns that are taken: the futex */
bool sleeps[THREADS];		/* in its queue */
byte inside;

/* One of those that sleep, if any. */
inline wake()
{
	if
	:: sleeps[0] -> sleeps[0] = false
	:: sleeps[1] -> sleeps[1] = false
	:: sleeps[2] -> sleeps[2] = false
	:: sleeps[3] -> sleeps[3] = false
	:: else
	fi
}

proctype thread(byte self)
{
	byte nr, rounds;
	bool has_waited;

	do
	:: rounds == ROUNDS -> break
	:: else ->
		has_waited = false;
		nr = asking;
		do
		:: nr < TURNS ->
			atomic {
				if
				:: asking == nr -> asking++; break
				:: else -> nr = asking
				fi
			}
		:: else ->
			atomic {
				if
				:: asking == nr -> sleeps[self] = true
				:: else
				fi
			}
			!sleeps[self];
			has_waited = true;
			nr = asking
		od;
		if
		:: has_waited && nr + 1 < TURNS -> atomic { wake() }
		:: else
		fi;
		inside++;
		assert(inside <= TURNS);
		inside--;
		atomic { nr = asking; asking-- }
		if
		:: nr >= TURNS -> atomic { wake() }
		:: else
		fi;
		rounds++
	od
}

init {
	atomic { run thread(0); run thread(1); run thread(2); run thread(3) }
}
