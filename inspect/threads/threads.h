/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the room threads/: the threads of a program as rows, like fibers
 *
 * Takes: a source (model/source.h) that can list threads (model/thread_at.h) and read memory.
 * Gives: the same source; its reads emit one row for each thread, with what it waits for and who
 * holds that, in place of the fibers or beside them.
 * Used by: fibertrace/.
 *
 * The system call in which a thread sleeps, and its arguments, say what it waits for. For futex(2)
 * the functions on its stack say which object of the C library that is, and the object's memory
 * says which thread holds it. An object that cannot be identified is a plain futex, and a holder
 * that cannot be told is unknown: no guess is shown.
 */
#ifndef INS_THREADS_ROOM_H
#define INS_THREADS_ROOM_H

#include "inspect/model/source.h"

/* wait_arg of a thread that waits for a mutex of the C library that only its holder can release. */
#define INS_THREAD_ONLY_HOLDER 1

/*
 * From now on the source's reads emit its threads in place of its fibers: id is the tid, flags has
 * INS_FIBER_THREAD, age is unknown and 0. fiberless: the program has no fibers, and the summary says
 * so. Returns 0, -EOPNOTSUPP: the source cannot list threads; or -ENOMEM. After an error the source
 * is unchanged.
 */
int ins_threads_show(struct ins_source *source, bool fiberless);

/* The same with ids as below: for a snapshot, which serves both. */
int ins_threads_show_marked(struct ins_source *source);

/*
 * From now on a read with request->threads also emits, after the fibers, the threads of the graph of
 * waits (source_mixed.c). The id of such a row is FIB_HOLDER_THREAD | tid, and a read of that id
 * gives the row. The summary counts fibers only. Returns as above.
 */
int ins_threads_mix(struct ins_source *source);

/* Whether the source emits threads in place of fibers. */
bool ins_threads_shown(const struct ins_source *source);

#endif
