/* SPDX-License-Identifier: MIT */
/*
 * location.h - DWARF's expressions: where a value is, or what it is
 *
 * Expressions come from files that may be damaged or made to harm: the stack of values is bounded, and so are the steps.
 * What is not understood is said by its name and never guessed.
 */
#ifndef INS_LOCATION_H
#define INS_LOCATION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/values/dwarf_pieces.h"

/*
 * Evaluate an expression; attr is where it is from (NULL: from a rule of an unwind table). 0; -ENODATA: a register or
 * memory that it needs is not to be had, so the value is gone; -ENOTSUP with *ret_op the operation that is not understood.
 */
int ins_location_run(const struct ins_scene *scene, Dwarf_Attribute *attr, const Dwarf_Op *ops,
		     size_t n, struct ins_location *ret, unsigned *ret_op);

/* The same of the attribute, at the frame's pc. An attribute that says nothing of that pc: 0, and a count of 0. */
int ins_location_of(const struct ins_scene *scene, Dwarf_Attribute *attr, struct ins_location *ret,
		    unsigned *ret_op);

#endif
