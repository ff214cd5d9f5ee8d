/* SPDX-License-Identifier: MIT */
/*
 * select.h - the expression language of --where
 *
 *   state=suspended and wait=mutex and age>2s
 *   (name~"^req-" or label.tenant=acme) and not holder
 *
 * A comparison is FIELD OP VALUE with the operators = != < <= > >= and ~ !~ (an extended regular
 * expression). A FIELD alone is true if the fiber has a value there. `not` binds strongest, then
 * `and`, then `or`; parentheses group. A comparison of a missing value is false, also with !=.
 *
 * Values are numbers in the field's unit (20ms, 64k, 0x5f0a, thread:812) or texts. A text with
 * blanks or parentheses is written in double quotes; in it a backslash comes before a quote or a
 * backslash.
 */
#ifndef INS_SELECT_H
#define INS_SELECT_H

#include "inspect/text/error.h"
#include "inspect/query/fields.h"

struct ins_select;

/* Returns 0, -EINVAL with what is wrong and where in error, or -ENOMEM. */
int ins_select_parse(const char *text, struct ins_select **ret, struct ins_error *error);
void ins_select_free(struct ins_select *select); /* NULL: nothing */

/* Add what its fields need to the request. */
void ins_select_wants(const struct ins_select *select, struct ins_request *request);

/* Add a problem for each word that is no state or kind of wait in a program of that layout. */
void ins_select_check(const struct ins_select *select, const struct fib_layout *layout,
		      struct ins_problems *problems);

bool ins_select_test(const struct ins_select *select, struct ins_sight *sight);

#endif
