/* SPDX-License-Identifier: MIT */
/*
 * same_process.c - whether two sources are of one run of one program
 *
 * Fibers are compared by their ids, which say nothing about another process or another run. Process
 * ids are reused, and in a container each run has the same one. The addresses of the modules and of the
 * records tell runs apart, because the kernel chooses them anew for each. A value that a source does not
 * know is the same as any other.
 */
#include "inspect/model/same_process.h"

#include <string.h>

/* Whether two modules at one address are known to be of different builds. */
static bool other_build(struct ins_source *a, struct ins_module *x, struct ins_source *b,
			struct ins_module *y)
{
	return ins_modules_look(a->modules, x) && ins_modules_look(b->modules, y) &&
	       x->image.build_id_size && y->image.build_id_size &&
	       (x->image.build_id_size != y->image.build_id_size ||
		memcmp(x->image.build_id, y->image.build_id, x->image.build_id_size) != 0);
}

/* A module of one source only may have been loaded or unloaded in between. */
static bool any_other_build(struct ins_source *a, struct ins_source *b)
{
	size_t i, k = 0;

	for (i = 0; i < a->modules->count; i++) {
		struct ins_module *x = &a->modules->at[i];

		while (k < b->modules->count && b->modules->at[k].start < x->start)
			k++;
		if (k < b->modules->count && b->modules->at[k].start == x->start &&
		    other_build(a, x, b, &b->modules->at[k]))
			return true;
	}
	return false;
}

/* The records are at an address of their own, also in a program that is not moved by the kernel. */
static bool other_run(const struct ins_source *a, const struct ins_source *b)
{
	if (a->layout.records && b->layout.records && a->layout.records != b->layout.records)
		return true;
	return a->modules->count && b->modules->count &&
	       a->modules->at[0].start != b->modules->at[0].start;
}

const char *ins_same_process_differs(struct ins_source *a, struct ins_source *b)
{
	if (a->pid && b->pid && a->pid != b->pid)
		return "another process";
	if (a->name[0] && b->name[0] && strcmp(a->name, b->name) != 0)
		return "another program";
	if (other_run(a, b))
		return "another run of the program";
	return any_other_build(a, b) ? "another build of the program" : NULL;
}
