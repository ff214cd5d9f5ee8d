/* SPDX-License-Identifier: MIT */
/* thread_rows.h - make a row of a thread of a source's program */
#ifndef INS_THREAD_ROWS_H
#define INS_THREAD_ROWS_H

#include "inspect/model/source.h"

struct ins_thread_rows;

/* Whether the source can list threads. */
bool ins_thread_rows_possible(const struct ins_source *source);

/*
 * base: the source's own functions. mixed: the rows are to stand beside those of fibers, so the
 * numbers of threads in them (id, holder, and wait_arg of a join) have FIB_HOLDER_THREAD. Otherwise
 * they are plain, and what a fiber holds has an unknown holder. -ENOMEM.
 */
int ins_thread_rows_new(struct ins_source *source, const struct ins_source_ops *base, bool mixed,
			struct ins_thread_rows **ret);
void ins_thread_rows_free(struct ins_thread_rows *rows); /* NULL: nothing */

/*
 * Begin and end a reading: list the threads of now, by number. request is borrowed: whether stacks
 * are wanted. 0, or a
 * negative errno with error set; the end is due also after an error.
 */
int ins_thread_rows_begin(struct ins_thread_rows *rows, const struct ins_request *request,
			  struct ins_error *error);
void ins_thread_rows_end(struct ins_thread_rows *rows);

/* When, and on which host, a source that has complete rows took them; else 0 and NULL. */
void ins_thread_rows_taken(const struct ins_thread_rows *rows, struct ins_summary *ret);

size_t ins_thread_rows_count(const struct ins_thread_rows *rows);
uint64_t ins_thread_rows_tid(const struct ins_thread_rows *rows, size_t i);

/*
 * Pass the row of one thread to fn. Returns fn's result; 0 also if the thread has exited, and then
 * *ret_there is false; -ENOMEM.
 */
int ins_thread_rows_look(struct ins_thread_rows *rows, uint64_t tid, ins_fiber_fn *fn,
			 void *context, bool *ret_there);

#endif
