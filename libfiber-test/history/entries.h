/* SPDX-License-Identifier: MIT */
/* entries.h - the calls of a history as the search looks at them */
#ifndef FIB_TEST_ENTRIES_H
#define FIB_TEST_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#include <fiber/test.h>

/* In which order the search tries calls that may be next. */
enum fib_rank {
	FIB_RANK_END,	    /* the one that returned first */
	FIB_RANK_FIRST_IN,  /* the one whose argument is a result first */
	FIB_RANK_FIRST_OUT, /* the one whose argument is a result last */
	FIB_RANKS,
};

struct fib_entry {
	struct fiber_test_call call;
	uint32_t index; /* in the history */
	uint32_t twin;	/* pending: the next earlier pending call like it; UINT32_MAX: none */
	uint32_t rank[FIB_RANKS];
};

struct fib_entries {
	struct fib_entry *at; /* by begin: first the calls that have returned, then the others */
	uint32_t n, returned;
};

/* The calls calls[which[0..n)]. Returns 0 or -ENOMEM. */
int fib_entries_make(const struct fiber_test_call calls[], const uint32_t which[], uint32_t n,
		     struct fib_entries *ret);
void fib_entries_free(struct fib_entries *entries);

#endif
