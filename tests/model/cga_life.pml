/* SPDX-License-Identifier: MIT */
/*
 * Life of gpc_local_cga_ids (spec CGA-23 .. CGA-26): an id is given out again only when
 * no access of its last CGA is under way; a CTA never finds its peers' tables unwritten.
 *
 * Two SMs, one CTA of each CGA on either, fewer ids than CGAs. Accesses to the other's shared
 * memory are posted: they are under way when the CTA has ended. `age` is a ghost: which
 * CGA an id or an access belongs to. Mutations, each of which must fail:
 *	NO_FLUSH      the id is free when the last CTA has completed
 *	ONE_FLUSH     ... when the first SM has answered the flush
 *	NO_ANNOUNCE   CTAs start before all tables are written
 *	LATE_INVALID  the table entry outlives the CTA's resources (CGA-26, 2 before 3)
 */
#define IDS 2
#define CGAS 3
#define NONE 255

chan wire[2] = [2] of { byte, byte };	/* accesses on their way to SM i: id, age */
chan launch[2] = [2] of { byte, byte };	/* to SM i: id, age */
chan announce[2] = [2] of { byte, byte };
chan announced = [4] of { byte };
chan flush[2] = [2] of { byte };
chan complete = [4] of { byte };	/* to the firmware: id */
chan flushed = [4] of { byte };

/* SM i: table and, as ghosts, age of each entry and what the shared memory belongs to */
typedef sm_table { bool valid[IDS]; byte age[IDS]; byte owner[IDS] };
sm_table sm[2];
typedef under_way { byte n[IDS] };
under_way sent[2];			/* accesses of SM i that have not arrived, by id */
bool running[8];			/* ghost: CTA of CGA `age` on SM i runs: 2 * age + i */
byte finished;

inline ends()
{
	running[2 * resident[id] + me] = false;
#ifndef LATE_INVALID
	sm[me].valid[id] = false;
#endif
	sm[me].owner[id] = NONE; /* its memory may be another's from here on */
	resident[id] = NONE;
	complete ! id
}

/* One SM: any order of what its CTAs do and what comes in from outside. */
proctype multiprocessor(byte me)
{
	byte id, age, flushing = NONE;
	byte resident[IDS];		/* age of the CTA of each CGA, NONE = none */
	bool touched[IDS];

	resident[0] = NONE; resident[1] = NONE;
end:	do
	/* a table entry is written */
	:: atomic { announce[me] ? id, age ->
		sm[me].valid[id] = true; sm[me].age[id] = age; sm[me].owner[id] = age;
		announced ! id }
	:: atomic { launch[me] ? id, age -> resident[id] = age; touched[id] = false }
	/* a correct program touches its peer only while that runs: it has a CGA barrier before its end */
	:: atomic { resident[0] != NONE && !touched[0] && running[2 * resident[0] + 1 - me] && nfull(wire[1 - me]) ->
		touched[0] = true; sent[me].n[0]++; wire[1 - me] ! 0, resident[0] }
	:: atomic { resident[1] != NONE && !touched[1] && running[2 * resident[1] + 1 - me] && nfull(wire[1 - me]) ->
		touched[1] = true; sent[me].n[1]++; wire[1 - me] ! 1, resident[1] }
	/* a CTA ends */
	:: resident[0] != NONE -> id = 0; ends()
	:: resident[1] != NONE -> id = 1; ends()
	/* an access arrives */
	:: atomic { wire[me] ? id, age ->
		sent[1 - me].n[id]--;
		if
		:: sm[me].valid[id] ->
			assert(sm[me].age[id] == age);   /* never seen by a later CGA */
			assert(sm[me].owner[id] == age)  /* never lands in freed memory */
		:: else ->
			assert(!running[2 * age + me])   /* refused only because the target has ended */
		fi }
	/* flush: answers when nothing it sent with this id is under way */
	:: atomic { flushing == NONE && nempty(flush[me]) -> flush[me] ? flushing }
	:: atomic { flushing != NONE && sent[me].n[flushing] == 0 -> flushed ! flushing; flushing = NONE }
	od
}

/* CWD and GPM: one id at a time from the free list, life by counts. */
proctype firmware()
{
	bool free[IDS];
	byte count[IDS], answers[IDS], next, id, waits;

	free[0] = true; free[1] = true;
	do
	:: finished == CGAS -> break
	:: next < CGAS && (free[0] || free[1]) ->
		if
		:: free[0] -> id = 0
		:: free[1] -> id = 1
		fi;
		free[id] = false; count[id] = 2;
		running[2 * next] = true; running[2 * next + 1] = true;
		announce[0] ! id, next; announce[1] ! id, next;
#ifndef NO_ANNOUNCE
		waits = 2;
		do
		:: waits > 0 -> announced ? _ ; waits--
		:: else -> break
		od;
#endif
		launch[0] ! id, next; launch[1] ! id, next;
		next++
#ifdef NO_ANNOUNCE
	:: announced ? _
#endif
	:: complete ? id ->
		count[id]--;
		if
		:: count[id] == 0 ->
#ifdef NO_FLUSH
			free[id] = true; finished++
#else
			answers[id] = 0;
			flush[0] ! id; flush[1] ! id
#endif
		:: else
		fi
	:: flushed ? id ->
		answers[id]++;
		if
#ifdef ONE_FLUSH
		:: answers[id] == 1 -> free[id] = true; finished++
#else
		:: answers[id] == 2 -> free[id] = true; finished++
#endif
		:: else
		fi
	od
}

/* Nothing hangs: when nothing moves any more all CGAs have ended. */
proctype observer()
{
end:	do
	:: timeout -> assert(finished == CGAS); break
	od
}

init {
	atomic { run multiprocessor(0); run multiprocessor(1); run firmware(); run observer() }
}
