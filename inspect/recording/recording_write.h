/* SPDX-License-Identifier: MIT */
/* recording_write.h - write the file of a recording */
#ifndef INS_RECORDING_WRITE_H
#define INS_RECORDING_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/recording_format.h"
#include "inspect/text/error.h"
#include "layout/event.h"

struct ins_recording_writer;

/*
 * Start a draft beside path; path changes only in _end(). replace: an existing file may be
 * replaced. -EEXIST, ... with error set.
 */
int ins_recording_begin(const char *path, bool replace, const struct fib_recording_head *head,
			struct ins_error *error, struct ins_recording_writer **ret);
/*
 * Append a section, or extend the open one: consecutive pieces of the same type form one section.
 */
int ins_recording_put(struct ins_recording_writer *w, enum fib_recording_section type,
		      const void *bytes, size_t size);
/* Append EVENTS: each call makes a section of its own. */
int ins_recording_put_events(struct ins_recording_writer *w, const struct fib_recording_events *e,
			     const struct fib_event *events);
int ins_recording_put_text(struct ins_recording_writer *w, enum fib_recording_section type,
			   uint64_t key, const char *text);
/*
 * Complete the file with the final head, or drop the draft. Both free w. _end() returns the first
 * error of all calls.
 */
int ins_recording_end(struct ins_recording_writer *w, const struct fib_recording_head *head,
		      struct ins_error *error);
void ins_recording_drop(struct ins_recording_writer *w);

#endif
