/* SPDX-License-Identifier: MIT */
/* collect.h - one finding about all fibers that have the same fault */
#ifndef INS_COLLECT_H
#define INS_COLLECT_H

#include "inspect/why/rules.h"

/* How much of the fault a fiber has, such as how long it waits; -1: it does not have the fault. */
typedef int64_t ins_degree_fn(const struct ins_look *look, const struct ins_fiber *fiber);

/*
 * Add a slow finding of the rule about all fibers with the fault, if there are any. Its subject is the
 * first fiber that has most of it. 0 or -ENOMEM.
 */
int ins_collect(const struct ins_look *look, const struct ins_rule *rule, ins_degree_fn *degree,
		struct ins_findings *ret);

/*
 * A line about one fiber of the finding: `fiber 3 "x" has waited for fd 17 read for 4s at store.c:230`.
 * Its place becomes the finding's, and more about it is shown by `show`.
 */
void ins_collect_say(struct ins_look *look, const struct ins_fiber *fiber,
		     struct ins_finding *finding);

#endif
