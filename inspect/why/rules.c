/* SPDX-License-Identifier: MIT */
/* rules.c - the table of rules */
#include "inspect/why/rules.h"

/* `stopped` is the first: in a process that does not run, delays say nothing. */
const struct ins_rule *const ins_rules[] = {
	&ins_rule_stopped,
	&ins_rule_deadlock,
	&ins_rule_leaks,
	&ins_rule_convoy,
	&ins_rule_carrier,
	&ins_rule_delay,
	&ins_rule_pinned,
	&ins_rule_forgotten,
	&ins_rule_signal,
	&ins_rule_peer,
	&ins_rule_offload,
	&ins_rule_failed,
	&ins_rule_stack,
	&ins_rule_growth,
	&ins_rule_limits,
	&ins_rule_recorder,
	NULL,
};

int ins_rules_apply(struct ins_look *look, size_t most, struct ins_findings *ret)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && ins_rules[i]; i++)
		rc = ins_rules[i]->find(look, ret);
	ins_findings_sort(ret);
	for (i = 0; rc == 0 && i < ret->count && i < most; i++)
		ret->all[i].rule->say(look, &ret->all[i]);
	return rc;
}
