/* SPDX-License-Identifier: MIT */
/* values.h - a running fixture with known variables: its fibers, stacks and walks */
#ifndef TEST_INSPECT_VALUES_H
#define TEST_INSPECT_VALUES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/source/source.h"
#include "tests/harness/inspect/crowd.h"
#include "tests/harness/inspect/head.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/values/variables.h"

#define VALUES_FIBERS 32
#define VALUES_STACK  16384

struct values {
	struct harness_process *process;
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	unsigned count;
	struct {
		struct ins_fiber fiber;
		struct ins_walk walk;
		unsigned char stack[VALUES_STACK];
	} at[VALUES_FIBERS];
};

static inline int values_keep(void *context, const struct ins_fiber *fiber)
{
	struct values *v = context;

	if (!fiber->stack || fiber->stack_size > VALUES_STACK || v->count == VALUES_FIBERS)
		return 0;
	v->at[v->count].fiber = *fiber;
	v->at[v->count].fiber.stack = v->at[v->count].stack;
	memcpy(v->at[v->count].stack, fiber->stack, fiber->stack_size);
	ins_unwind(v->unwinder, fiber, &v->at[v->count].walk);
	v->count++;
	return 0;
}

/*
 * Start a fixture ("values", "values-plain", "crowd" and its count) and read its fibers. NULL:
 * error.
 */
static inline struct values *values_begin(const char *name, const char *argument)
{
	const struct ins_request request = {.stacks = true};
	const struct harness_how how = {.folder = harness_folder()};
	struct values *v = calloc(1, sizeof *v);
	struct ins_error error = {""};
	struct ins_summary summary;
	char path[HARNESS_PATH];
	const char *const argv[] = {path, argument, NULL};

	snprintf(path, sizeof path, "%s/%sbin/%s", harness_build(),
		 *harness_sanitizer() ? "plain/" : "", name);
	v->process = harness_start(argv, &how);
	if (!harness_wait_line(v->process, "ready ", 30) ||
	    ins_source_open_live(v->process->pid, &error, &v->source) < 0 ||
	    ins_unwinder_new(v->source, &v->unwinder) < 0 ||
	    ins_symbols_new(v->source->modules, &v->symbols) < 0 ||
	    ins_source_read(v->source, &request, values_keep, v, &summary, &error) < 0) {
		print_error("%s: %s\n", path, error.text);
		return NULL;
	}
	return v->count ? v : NULL;
}

static inline void values_end(struct values *v)
{
	if (!v)
		return;
	ins_symbols_free(v->symbols);
	ins_unwinder_free(v->unwinder);
	ins_source_close(v->source);
	harness_free(v->process);
	free(v);
}

/* All variables of one fiber. */
static inline struct ins_variables *values_of(struct values *v, unsigned fiber)
{
	struct ins_variables *ret;

	assert_int_equal(ins_variables_find(v->source, v->symbols, &v->at[fiber].fiber,
					    &v->at[fiber].walk,
					    INS_VARIABLES_ARGS | INS_VARIABLES_LOCALS, &ret),
			 0);
	return ret;
}

/* The index of that function's frame in the fiber's walk. */
static inline unsigned values_frame(struct values *v, unsigned fiber, const char *function)
{
	unsigned i, number = 0;
	size_t k, n;

	for (i = 0; i < v->at[fiber].walk.count; i++) {
		const struct ins_frame *f =
			ins_symbols_at(v->symbols, v->at[fiber].walk.pc[i], i > 0, &n);

		for (k = 0; k < n; k++, number++)
			if (f[k].function && strcmp(f[k].function, function) == 0)
				return number;
	}
	fail_msg("no frame of %s", function);
	return 0;
}

/* The nth variable (from 0) of that name in the frame, or NULL. */
static inline const struct ins_variable *values_find(const struct ins_variables *v, unsigned frame,
						     const char *name, unsigned nth)
{
	size_t i;

	for (i = 0; i < v->count; i++)
		if (v->at[i].frame == frame && strcmp(v->at[i].name, name) == 0 && !nth--)
			return &v->at[i];
	return NULL;
}

#endif
