/* SPDX-License-Identifier: MIT */
/* model.h - what a model and a history must be */
#ifndef FIB_TEST_MODEL_H
#define FIB_TEST_MODEL_H

#include <stddef.h>

#include <fiber/test.h>

#define FIB_STATE_MAX ((size_t)1 << 20) /* bytes */
#define FIB_CALLS_MAX ((size_t)1 << 20)

/* What is wrong with it, in words after "the model"; NULL: nothing. *ret: it, with all fields. */
const char *fib_model_check(const struct fiber_test_model *model, struct fiber_test_model *ret);

/* Whether the calls are a history. */
bool fib_calls_check(const struct fiber_test_call calls[], size_t n);

/* Write the state at the beginning. */
void fib_model_init(const struct fiber_test_model *model, void *state);

/* Write a call as the model does. Returns text. */
const char *fib_model_print(const struct fiber_test_model *model,
			    const struct fiber_test_call *call, char *text, size_t size);

#endif
