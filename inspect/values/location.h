/* SPDX-License-Identifier: MIT */
/*
 * location.h - DWARF expressions: where a value is, or what it is
 *
 * Expressions come from files that may be damaged or hostile. So the stack of numbers and the
 * number of steps are limited. Unsupported operations are reported by name; nothing is guessed.
 */
#ifndef INS_LOCATION_H
#define INS_LOCATION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/values/dwarf_pieces.h"

/*
 * Evaluate an expression; attr is its source (NULL: a rule of an unwind table). Returns 0;
 * -ENODATA: a register or memory that it needs is not available, so the value is lost; -ENOTSUP,
 * with the unsupported operation in *ret_op.
 */
int ins_location_run(const struct ins_scene *scene, Dwarf_Attribute *attr, const Dwarf_Op *ops,
		     size_t n, struct ins_location *ret, unsigned *ret_op);

/*
 * Evaluate the attribute at the frame's pc. An attribute without a value at that pc gives 0 and a
 * count of 0.
 */
int ins_location_of(const struct ins_scene *scene, Dwarf_Attribute *attr, struct ins_location *ret,
		    unsigned *ret_op);

#endif
