/* SPDX-License-Identifier: MIT */
/*
 * select.h - which fibers are meant: the language of --where
 *
 *   state=suspended and wait=mutex and age>2s
 *   (name~"^req-" or label.tenant=acme) and not holder
 *
 * A comparison is FIELD OP VALUE with the operators = != < <= > >= and ~ !~ (an extended regular expression); a FIELD
 * alone is true where the fiber has it. `not` binds strongest, then `and`, then `or`; parentheses group. Values are numbers in the
 * field's unit (20ms, 64k, 0x5f0a, thread:812) or texts; a text with blanks or parentheses stands between
 * double quotes, with a backslash before a quote or a backslash in it. A comparison with nothing is false, != too.
 */
#ifndef INS_SELECT_H
#define INS_SELECT_H

#include "inspect/text/error.h"
#include "inspect/query/fields.h"

struct ins_select;

/* 0, or -EINVAL with error saying what is wrong and where, or -ENOMEM. */
int ins_select_parse(const char *text, struct ins_select **ret, struct ins_error *error);
void ins_select_free(struct ins_select *select); /* NULL: nothing */

/* Add to the request what its fields need. */
void ins_select_wants(const struct ins_select *select, struct ins_request *request);

/* Add a problem for each word that nothing in a program of that layout is called: a state or a kind of wait, mistyped. */
void ins_select_check(const struct ins_select *select, const struct fib_layout *layout,
		      struct ins_problems *problems);

bool ins_select_test(const struct ins_select *select, struct ins_sight *sight);

#endif
