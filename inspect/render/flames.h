/* SPDX-License-Identifier: MIT */
/*
 * flames.h - stacks as lists of names, outermost first, with two values, for flame graphs
 *
 * All output formats use this. Names are escaped as for a terminal and never empty. The values are a
 * number and a time: fibers and their ages, samples and their CPU time, waits and their length.
 */
#ifndef INS_FLAMES_H
#define INS_FLAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/query/group.h"
#include "inspect/symbols/symbolize.h"

struct ins_flame_function {
	const char *name;
	const char *file; /* NULL: unknown */
};

struct ins_flame_call {
	size_t function; /* index of the function */
	int line;	 /* 0: unknown */
};

struct ins_flame {
	uint64_t number;
	uint64_t time;			    /* ns, at most INT64_MAX */
	size_t depth;			    /* never 0 */
	const struct ins_flame_call *calls; /* outermost first */
};

/* What a value is. */
struct ins_flame_value {
	const char *name;  /* for pprof: "cpu" */
	const char *unit;  /* for pprof: "nanoseconds" */
	const char *title; /* for speedscope: "CPU time" */
};

/* What the values of stacks are. */
struct ins_flame_kind {
	struct ins_flame_value number, time;
	const char *one; /* the number in words: "sample", of which there are two samples */
	bool by_time;	 /* the time is the more important value: a frame is as wide as its time */
	int64_t period;	 /* ns of time from one sample to the next; 0: there are no periods */
};
extern const struct ins_flame_kind ins_flame_fibers; /* the fibers of one moment */

/* When a profile was made. */
struct ins_flame_span {
	int64_t began;	     /* ns of CLOCK_REALTIME; 0: unknown */
	int64_t took;	     /* ns; 0: one moment */
	const char *program; /* its file's name, borrowed; NULL: pprof gets none */
};

struct ins_flames;

/* kind is borrowed. -ENOMEM. */
int ins_flames_new(const struct ins_flame_kind *kind, struct ins_flames **ret);
void ins_flames_free(struct ins_flames *flames); /* NULL: nothing */

/*
 * Add a group: its key, if any, then its functions, outermost first, with inlined ones. keyed:
 * groups have keys; a missing key is "[none]". A function without a name is its module and offset,
 * or its address. A truncated walk starts with "[truncated]", a walk that was cut with "[left
 * out]". A fiber without frames is its state in brackets. Returns 0 or -ENOMEM.
 */
int ins_flames_add(struct ins_flames *flames, const struct fib_layout *layout,
		   const struct ins_group *group, bool keyed, struct ins_symbols *symbols);

/*
 * Add a stack piecewise, innermost function first: begin, then frames of walks and names in any
 * order, then end with the values. An empty walk adds nothing. 0 or -ENOMEM.
 */
void ins_flames_begin(struct ins_flames *flames);
int ins_flames_put_walk(struct ins_flames *flames, const struct ins_walk *walk,
			struct ins_symbols *symbols);
int ins_flames_put_name(struct ins_flames *flames, const char *name);
int ins_flames_end(struct ins_flames *flames, uint64_t number, uint64_t time);

void ins_flames_set_span(struct ins_flames *flames, struct ins_flame_span span);

size_t ins_flames_count(const struct ins_flames *flames);
const struct ins_flame *ins_flames_at(const struct ins_flames *flames, size_t i);

size_t ins_flames_functions(const struct ins_flames *flames);
const struct ins_flame_function *ins_flames_function(const struct ins_flames *flames, size_t i);

/* Sums over all stacks. */
uint64_t ins_flames_number(const struct ins_flames *flames);
uint64_t ins_flames_time(const struct ins_flames *flames);

const struct ins_flame_kind *ins_flames_kind(const struct ins_flames *flames);
struct ins_flame_span ins_flames_span(const struct ins_flames *flames);

#endif
