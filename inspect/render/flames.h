/* SPDX-License-Identifier: MIT */
/*
 * flames.h - stacks as flame graphs want them: names, outermost first, with numbers
 *
 * What every format of them is made of. Names are plain as for a terminal, and never empty.
 */
#ifndef INS_FLAMES_H
#define INS_FLAMES_H

#include <stddef.h>
#include <stdint.h>

#include "inspect/query/group.h"
#include "inspect/symbols/symbolize.h"

struct ins_flame_function {
	const char *name;
	const char *file; /* NULL: not known */
};

struct ins_flame_call {
	size_t function; /* its number */
	int line;	 /* 0: not known */
};

struct ins_flame {
	uint64_t fibers;
	uint64_t age; /* ns, of all of them together, no more than INT64_MAX */
	size_t depth; /* never 0 */
	const struct ins_flame_call *calls; /* outermost first */
};

struct ins_flames;

int ins_flames_new(struct ins_flames **ret);	 /* -ENOMEM */
void ins_flames_free(struct ins_flames *flames); /* NULL: nothing */

/*
 * Add a group: the key, if it has one, then its functions, outermost first, inlined ones too. A function without a name is its
 * module and offset, or its address. A walk that is not whole begins with "[truncated]", one that was cut with "[left out]", a
 * fiber without frames is its state in brackets. keyed: groups have keys, and those without are "[none]".
 * 0 or -ENOMEM.
 */
int ins_flames_add(struct ins_flames *flames, const struct fib_layout *layout,
		   const struct ins_group *group, bool keyed, struct ins_symbols *symbols);

size_t ins_flames_count(const struct ins_flames *flames);
const struct ins_flame *ins_flames_at(const struct ins_flames *flames, size_t i);

size_t ins_flames_functions(const struct ins_flames *flames);
const struct ins_flame_function *ins_flames_function(const struct ins_flames *flames, size_t i);

/* Of all of them. */
uint64_t ins_flames_fibers(const struct ins_flames *flames);
uint64_t ins_flames_age(const struct ins_flames *flames);

#endif
