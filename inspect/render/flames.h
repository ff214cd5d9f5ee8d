/* SPDX-License-Identifier: MIT */
/*
 * flames.h - stacks as lists of names, outermost first, with counts, for flame graphs
 *
 * All output formats use this. Names are escaped as for a terminal and never empty.
 */
#ifndef INS_FLAMES_H
#define INS_FLAMES_H

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
	uint64_t fibers;
	uint64_t age;			    /* ns, the sum of all fibers, at most INT64_MAX */
	size_t depth;			    /* never 0 */
	const struct ins_flame_call *calls; /* outermost first */
};

struct ins_flames;

int ins_flames_new(struct ins_flames **ret);	 /* -ENOMEM */
void ins_flames_free(struct ins_flames *flames); /* NULL: nothing */

/*
 * Add a group: its key, if any, then its functions, outermost first, with inlined ones. keyed:
 * groups have keys; a missing key is "[none]". A function without a name is its module and offset,
 * or its address. A truncated walk starts with "[truncated]", a walk that was cut with "[left
 * out]". A fiber without frames is its state in brackets. Returns 0 or -ENOMEM.
 */
int ins_flames_add(struct ins_flames *flames, const struct fib_layout *layout,
		   const struct ins_group *group, bool keyed, struct ins_symbols *symbols);

size_t ins_flames_count(const struct ins_flames *flames);
const struct ins_flame *ins_flames_at(const struct ins_flames *flames, size_t i);

size_t ins_flames_functions(const struct ins_flames *flames);
const struct ins_flame_function *ins_flames_function(const struct ins_flames *flames, size_t i);

/* Sums over all stacks. */
uint64_t ins_flames_fibers(const struct ins_flames *flames);
uint64_t ins_flames_age(const struct ins_flames *flames);

#endif
