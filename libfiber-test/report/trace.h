/* SPDX-License-Identifier: MIT */
/* trace.h - what happened in the traced schedule, step by step */
#ifndef FIB_TEST_TRACE_H
#define FIB_TEST_TRACE_H

#include <stddef.h>
#include <stdint.h>

enum fib_entry_kind {
	FIB_ENTRY_CALL,	  /* a fiber calls a function */
	FIB_ENTRY_CHOOSE, /* fiber_test_choose(), the order of a select's cases */
	FIB_ENTRY_FAULT,  /* a call fails because the schedule says so */
	FIB_ENTRY_NOTE,	  /* fiber_test_note() */
	FIB_ENTRY_TIME,	  /* the clock has moved; of no fiber */
};

struct fib_entry {
	enum fib_entry_kind kind;
	uint32_t number;     /* of the fiber; 0: none */
	char *text;	     /* the function, what is chosen, the note */
	const void *at;	     /* the return address in the program; NULL: unknown */
	const void *address; /* of the object; NULL: none */
	int object;	     /* report/objects.h; -1: none */
	uint32_t target;     /* the fiber that is joined, unparked, ...; 0: none */
	char *way;	     /* FAULT: how it fails */
	unsigned chosen;     /* CHOOSE */
	int64_t now;	     /* ns on the clock of the schedule */
};

/* Record the schedule that starts now. */
void fib_trace_begin(void);

/* Call fn at each step from now on; NULL: nothing. */
void fib_trace_at_each_step(void (*fn)(void));

/* A line of the program's own; at: as in the entry. */
void fib_trace_note(uint32_t number, const char *text, const void *at);

/* A call fails in a way that the schedule has chosen; it is named in words. */
void fib_trace_fault(uint32_t number, const char *call, const char *way, const void *at);

size_t fib_trace_count(void);
const struct fib_entry *fib_trace_at(size_t i);

/* The name of a fiber when it did its last step, or "". */
const char *fib_trace_name(uint32_t number);

#endif
