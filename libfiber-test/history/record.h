/* SPDX-License-Identifier: MIT */
/* record.h - the histories of a schedule */
#ifndef FIB_TEST_RECORD_H
#define FIB_TEST_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include <fiber/test.h>

/* In one schedule. */
#define FIB_HISTORIES_MAX      64u
#define FIB_RECORDED_CALLS_MAX 10000u

/* Forget all histories: a schedule begins. No more calls are accepted: it has ended. */
void fib_record_reset(void);
void fib_record_close(void);

/*
 * Begin a history; a call, by a fiber's number; a return. Each returns NULL, or why it cannot be, in
 * words that follow its public function.
 */
const char *fib_record_history(const struct fiber_test_model *model);
const char *fib_record_call(uint32_t fiber, unsigned op, int64_t key, int64_t arg, unsigned *ret);
const char *fib_record_return(unsigned call, int64_t result);

/* How many histories there are, and which was begun last: an address, which has no other meaning. */
unsigned fib_record_count(void);
const void *fib_record_object(void);

/* Check history i: 1 good, 0 bad, -ENOMEM: not known. alive: called every now and then. */
int fib_record_check(unsigned i);

/* Cut history i, which is bad, and draw it; the record of it is lost. */
void fib_record_draw(unsigned i, void (*alive)(void), char *text, size_t size);

#endif
