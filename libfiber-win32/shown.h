/* SPDX-License-Identifier: MIT */
/* shown.h - what fibertrace and debuggers see of each stack */
#ifndef FIB_WIN32_SHOWN_H
#define FIB_WIN32_SHOWN_H

#include <stddef.h>
#include <stdint.h>

#include <fiber/context.h>
#include <fiber_layout.h>

/* Records that exist. Stacks beyond that number are not shown. */
#define FIB_WIN32_SHOWN_MOST 65536u

/*
 * Take a record for a stack that was made and has not run. name: shown, "": the name of the function;
 * parent: the number of the fiber that made it, or 0; entry: the address of its function. Returns NULL
 * when there is none left; the other functions do nothing with NULL. Any thread.
 */
struct fiber_layout_record *fib_win32_show(const char *name, uint64_t parent, uint64_t entry);

/* The time of a switch, ns of the system's coarse clock. */
int64_t fib_win32_shown_now(void);

/* The context runs from `time` on, on [low, low + size). Call it before the switch to it. */
void fib_win32_show_running(struct fiber_layout_record *record, const void *low, size_t size,
			    int64_t time);

/* The context was left at `time`: call it in the code that runs next, before another thread may
 * continue it. */
void fib_win32_show_left(struct fiber_layout_record *record, const struct fiber_context *context,
			 int64_t time);

/* Give the record back. */
void fib_win32_hide(struct fiber_layout_record *record);

/* The registry, for tests. */
const struct fib_layout *fib_win32_registry(void);

#endif
