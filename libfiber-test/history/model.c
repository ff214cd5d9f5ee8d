/* SPDX-License-Identifier: MIT */
/* model.c - check a model and a history, and use the optional functions of a model */
#include "history/model.h"

#include <stdio.h>
#include <string.h>

/* All fields up to step must be there. */
#define SIZE_MIN \
	(offsetof(struct fiber_test_model, step) + sizeof(((struct fiber_test_model *)0)->step))
#define SIZE_MAX_KNOWN 4096u

const char *fib_model_check(const struct fiber_test_model *model, struct fiber_test_model *ret)
{
	const unsigned char *bytes = (const unsigned char *)model;
	size_t i;

	memset(ret, 0, sizeof *ret);
	if (!model)
		return "is NULL";
	if (model->size < SIZE_MIN || model->size > SIZE_MAX_KNOWN)
		return "has a wrong size; set size to sizeof(struct fiber_test_model)";
	/* A newer program may have fields that are unknown here, as long as they are 0. */
	for (i = sizeof *ret; i < model->size; i++)
		if (bytes[i])
			return "has fields that this version does not know";
	memcpy(ret, model, model->size < sizeof *ret ? model->size : sizeof *ret);
	if (!ret->step)
		return "has no step";
	if (ret->state_size > FIB_STATE_MAX)
		return "has a state of more than 1 MiB";
	return NULL;
}

bool fib_calls_check(const struct fiber_test_call calls[], size_t n)
{
	size_t i;

	if (n > FIB_CALLS_MAX || (n && !calls))
		return false;
	for (i = 0; i < n; i++)
		if (calls[i].end && calls[i].end < calls[i].begin)
			return false;
	return true;
}

void fib_model_init(const struct fiber_test_model *model, void *state)
{
	memset(state, 0, model->state_size);
	if (model->init)
		model->init(state);
}

const char *fib_model_print(const struct fiber_test_model *model,
			    const struct fiber_test_call *call, char *text, size_t size)
{
	int n;

	if (model->print) {
		text[0] = 0;
		model->print(call, text, size);
		text[size - 1] = 0;
		return text;
	}
	n = snprintf(text, size, "op %u", call->op);
	if (model->by_key || call->key)
		n += snprintf(text + n, size - (size_t)n, " key %lld", (long long)call->key);
	n += snprintf(text + n, size - (size_t)n, " (%lld)", (long long)call->arg);
	if (call->end)
		snprintf(text + n, size - (size_t)n, " = %lld", (long long)call->result);
	return text;
}
