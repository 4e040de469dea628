/* SPDX-License-Identifier: MIT */
/*
 * Sleep handshake between producers and the card (include/tutti/control.h): no ring is lost.
 *
 * Every processor has a store buffer of one entry that memory empties when it likes; a fence
 * waits until it is empty. That is what a total-store-order machine may do to the handshake.
 * Mutations, each of which must lose a ring:
 *	NO_HOST_FENCE  producer looks at `asleep` before its doorbell is visible
 *	NO_CARD_FENCE  card looks at the doorbells before its `asleep` is visible
 *	LOOK_FIRST     card says that it sleeps after its last look
 *	LATE_SEQUENCE  card takes the kick count it sleeps on after its last look
 */
#define PRODUCERS 2
#define RINGS 2
#define EMPTY 0

byte doorbell[PRODUCERS];	/* as memory has them */
bool asleep;
byte kicks;			/* free running: what the card sleeps on */
byte buffered[PRODUCERS];	/* store buffers: doorbell of each producer ... */
byte flag;			/* ... and the card's `asleep`: 0 empty, 1 "no", 2 "yes" */
byte rung[PRODUCERS];		/* ghost: last value stored */
byte taken[PRODUCERS];		/* ghost: last value the card took */
byte done;			/* producers that have ended */

proctype memory()
{
end:	do
	:: atomic { buffered[0] != EMPTY -> doorbell[0] = buffered[0]; buffered[0] = EMPTY }
	:: atomic { buffered[1] != EMPTY -> doorbell[1] = buffered[1]; buffered[1] = EMPTY }
	:: atomic { flag != 0 -> asleep = (flag == 2); flag = 0 }
	od
}

proctype producer(byte me)
{
	byte i = 1;

	do
	:: i <= RINGS ->
		atomic { buffered[me] == EMPTY -> buffered[me] = i; rung[me] = i }
#ifndef NO_HOST_FENCE
		buffered[me] == EMPTY;
#endif
		if
		:: asleep -> kicks++
		:: else
		fi;
		i++
	:: else -> break
	od;
	done++
}

inline say(yes)
{
	atomic { flag == 0 -> flag = (yes -> 2 : 1) }
}

/* The exchange drains the store buffer, as a locked instruction does. */
inline take()
{
	flag == 0;
	atomic {
		found = false;
		if
		:: doorbell[0] != EMPTY -> taken[0] = doorbell[0]; doorbell[0] = EMPTY; found = true
		:: else
		fi;
		if
		:: doorbell[1] != EMPTY -> taken[1] = doorbell[1]; doorbell[1] = EMPTY; found = true
		:: else
		fi
	}
}

proctype card()
{
	byte sequence;
	bool found;

	do
	:: sequence = kicks;
		say(false);
		do
		:: take();
			if
			:: found
			:: else -> break
			fi
		od;
#ifndef LOOK_FIRST
		say(true);
#ifndef NO_CARD_FENCE
		flag == 0;
#endif
#endif
		if
		:: doorbell[0] != EMPTY || doorbell[1] != EMPTY
		:: else ->
#ifdef LOOK_FIRST
			say(true);
#endif
#ifdef LATE_SEQUENCE
			sequence = kicks;
#endif
end:			kicks != sequence
		fi
	od
}

/* When nothing moves any more, everything rung has been taken. */
proctype observer()
{
end:	do
	:: timeout ->
		assert(done == PRODUCERS);
		assert(taken[0] == rung[0] && taken[1] == rung[1]);
		break
	od
}

init {
	atomic { run memory(); run producer(0); run producer(1); run card(); run observer() }
}
