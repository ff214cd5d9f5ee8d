/* SPDX-License-Identifier: MIT */
/*
 * words.h - what states, waits and snapshots are called, for people and scripts
 *
 * The words of states and wait kinds are those of the program's own layout where it has them.
 */
#ifndef INS_WORDS_H
#define INS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "inspect/model/source.h"

/* "suspended", ... and "mutex", ...; layout may be NULL or lack a name. A name of the layout's is as
 * the program has it: not for a terminal. INS_WORDS_UNKNOWN behind the last. */
#define INS_WORDS_UNKNOWN "unknown"
const char *ins_words_state(const struct fib_layout *layout, unsigned state);
const char *ins_words_wait_kind(const struct fib_layout *layout, unsigned kind);

/* "read", "write", "read|write" for poll(2)'s bits. Returns buf. */
const char *ins_words_events(unsigned events, char *buf, size_t size);

/*
 * What a fiber waits for: `mutex "cfg"@0x5f.. held by 88`, `mutex@0x5f.. held by thread 12`,
 * `fd 17 read`, `sleep 1.2s left`, `join 41`; "" when it does not wait. address: show the object's
 * address also when it has a name; without a name it is always shown. What a group's members do not
 * share is left out. Returns buf.
 */
const char *ins_words_wait(const struct fib_layout *layout, const struct ins_fiber *fiber,
			   bool address, char *buf, size_t size);

/* Of a snapshot's summary: "snapshot of vm1, taken 2026-11-21 22:47:52 +0000"; "" of any other. Returns buf. */
const char *ins_words_taken(const struct ins_summary *summary, char *buf, size_t size);

#endif
