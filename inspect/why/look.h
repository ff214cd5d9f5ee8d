/* SPDX-License-Identifier: MIT */
/*
 * look.h - what the rules look at: a source that was read twice
 *
 * One reading tells what each fiber does and for how long. The second tells what lasts: a fiber whose
 * switch count is the same has not run in between. A core or a snapshot is read once, since nothing
 * changes in it.
 */
#ifndef INS_LOOK_H
#define INS_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/leaks/lost_groups.h"
#include "inspect/process/condition.h"
#include "inspect/process/peers.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/text/strbuf.h"
#include "inspect/unwind/unwind.h"
#include "inspect/waits/confirm.h"
#include "inspect/waits/queues.h"

/* Shorter waits are part of the work of a healthy program under load. */
#define INS_LOOK_LONG INT64_C(1000000000) /* ns */
/* A fiber that could run should run within this. */
#define INS_LOOK_DELAY INT64_C(200000000) /* ns */

/* Growth needs readings that are this far apart: every server has bursts. */
#define INS_GROWTH_NS INT64_C(2000000000)
/* Of more fibers it is not asked how deep their stacks were ever used. */
#define INS_LOOK_DEPTHS 20000u

struct ins_look {
	struct ins_source *source;
	pid_t pid;	/* the process, if its /proc can be read; 0: none */
	int64_t wanted; /* ns between the readings that were asked for; reading itself takes time too */
	bool single; /* read once: nothing changes in it, or there is no time */
	bool silent; /* nothing will be put into words */
	bool deep;   /* search the memory for lost fibers: the source has memory (lost.h) */
	bool halted; /* the process does not run: a rule has found out why */
	struct ins_confirmed earlier, last; /* single: earlier is empty */
	/* An older reading, for what takes long to show, and how much older it is, ns; NULL: none. */
	struct ins_table *since;
	int64_t since_ago;
	struct ins_condition condition_before, condition; /* at these readings, of pid */
	struct ins_peers peers;				  /* of pid, once asked for */
	bool peers_read;
	struct ins_unwinder *unwinder; /* silent: NULL, as is symbols */
	struct ins_symbols *symbols;
	struct ins_lost lost; /* of rule_leaks.c, as the next one */
	struct ins_lost_groups lost_groups;
};

/*
 * Read the source, wait for `between` ns, and read it again. single: once. Returns 0 or a negative
 * errno with error set. Drop the look in both cases.
 */
int ins_look_take(struct ins_look *look, int64_t between, struct ins_error *error);
void ins_look_drop(struct ins_look *look);

/* The number of fibers in the last reading; fiber i of it. */
size_t ins_look_count(const struct ins_look *look);
void ins_look_get(const struct ins_look *look, size_t i, struct ins_fiber *ret);

/*
 * Whether a fiber of the last reading has not been switched since the earlier one, or it was read
 * once. If it waits while it is pinned, which needs no switch: whether it waits for the same.
 */
bool ins_look_stayed(const struct ins_look *look, const struct ins_fiber *fiber);

/*
 * The place in the program's source where a fiber is: "store.c:230 in compact", without debug
 * information "in compact". Reads its stack again. "" if that is unknown. Returns buf. Escaped.
 */
const char *ins_look_place(struct ins_look *look, const struct ins_fiber *fiber, char *buf,
			   size_t size);

/* The same for a code address; returned: it is a return address. */
const char *ins_look_place_of(struct ins_look *look, uint64_t pc, bool returned, char *buf,
			      size_t size);

/* `fiber 3 "compactor"`, without a name `fiber 3`. */
void ins_look_say_fiber(const struct ins_fiber *fiber, struct ins_strbuf *line);

/* `rwlock "table"`, without a name `rwlock@0x5f..`. */
void ins_look_say_object(const struct ins_look *look, const struct ins_fiber *waiter,
			 struct ins_strbuf *line);

/*
 * Whether something is old that has this age and will last for `more` ns, at most INS_LOOK_LONG.
 * Ages of threads are unknown: there it is old if it was read twice, and the caller has found out
 * that it stayed.
 */
bool ins_look_old(const struct ins_look *look, int64_t age, int64_t more);

/* Whether it waits, pinned or not. */
bool ins_look_waits(const struct ins_fiber *fiber);

/*
 * Whether its age is that of what it does. That of a thread is not known, and a fiber that waits while
 * it is pinned runs all the time: its age is that of its run.
 */
bool ins_look_knows_age(const struct ins_fiber *fiber);

/*
 * For how long a fiber that can run must have waited to be delayed, ns. A single reading of a program
 * that runs may meet the moment in which it has no CPU.
 */
int64_t ins_look_delay(const struct ins_look *look);

/*
 * The peer of the connection that the fiber waits for. NULL: it waits for something else, or that is
 * not known: the source is no live process, or one of another network namespace.
 */
const struct ins_peer *ins_look_peer(struct ins_look *look, const struct ins_fiber *fiber);

/* Whether it waits for a carrier. */
bool ins_look_runnable(const struct ins_fiber *fiber);

/* Whether it has kept its carrier for ins_look_delay(). */
bool ins_look_keeps(const struct ins_look *look, const struct ins_fiber *fiber);

/* How long the fiber will still sleep, at most INS_LOOK_LONG; 0: it does not sleep. */
int64_t ins_look_sleeps(const struct ins_fiber *fiber);

/*
 * What a fiber does: `has slept for 41s, 18s left`, `has waited for fd 17 read for 2m14s`, `has run
 * on carrier 0 for 3s`. A thread, without an age: `waits for fd 17 read`.
 */
void ins_look_say_doing(const struct ins_look *look, const struct ins_fiber *fiber,
			struct ins_strbuf *line);

/* ` at store.c:230 in compact`; nothing without a place. */
void ins_look_say_at(const char *place, struct ins_strbuf *line);

/* `1 waits`, `5 wait` */
void ins_look_say_count(struct ins_strbuf *line, uint64_t count, const char *one, const char *more);

#endif
