/* SPDX-License-Identifier: MIT */
/*
 * words.h - the words for states, waits and snapshots, for people and scripts
 *
 * The words for states and wait kinds are those of the program's own layout if it has them.
 */
#ifndef INS_WORDS_H
#define INS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "inspect/model/source.h"

/*
 * A wait of threads that no fiber has, at the end of the layout's table: a system call; object_name is
 * its name. FIB_WAIT_FUTEX of a thread is a wait for an object that was not identified.
 */
#define INS_WAIT_CALL (FIB_LAYOUT_WAITS - 1)
_Static_assert(INS_WAIT_CALL >= FIB_WAIT_COUNT, "fibers have no such wait");

/*
 * "suspended", ... and "mutex", ...; layout may be NULL or lack a name. A name from the layout is
 * not escaped. Values beyond the last are INS_WORDS_UNKNOWN.
 */
#define INS_WORDS_UNKNOWN "unknown"
const char *ins_words_state(const struct fib_layout *layout, unsigned state);
const char *ins_words_wait_kind(const struct fib_layout *layout, unsigned kind);

/* "read", "write", "read|write" for poll(2)'s bits. Returns buf. */
const char *ins_words_events(unsigned events, char *buf, size_t size);

/* What a row with these flags is, and what the rows of a summary are: "fiber" or "thread". */
static inline const char *ins_words_row(unsigned flags)
{
	return flags & INS_FIBER_THREAD ? "thread" : "fiber";
}

/* A row's id as it is printed: a thread beside fibers is its number. */
static inline uint64_t ins_words_id(uint64_t id)
{
	return id & ~FIB_HOLDER_THREAD;
}

static inline const char *ins_words_rows(const struct ins_summary *summary)
{
	return summary->threads ? "thread" : "fiber";
}

/*
 * What a fiber waits for: `mutex "cfg"@0x5f.. held by 88`, `mutex@0x5f.. held by thread 12`, `fd 17
 * read`, `select of 2 descriptors`, `sleep 1.2s left`, `join 41`; "" if it does not wait. address: show the object's address
 * also if it has a name; without a name it is always shown. For a group, details that its members
 * do not share are left out. Returns buf.
 */
const char *ins_words_wait(const struct fib_layout *layout, const struct ins_fiber *fiber,
			   bool address, char *buf, size_t size);

/*
 * For a snapshot's summary: "snapshot of vm1, taken 2026-11-21 22:47:52 +0000"; else "". Returns
 * buf.
 */
const char *ins_words_taken(const struct ins_summary *summary, char *buf, size_t size);

#endif
