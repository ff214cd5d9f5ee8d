/* SPDX-License-Identifier: MIT */
/* rules.c - the table of rules */
#include "inspect/why/rules.h"

/* `stopped` is the first: in a process that does not run, delays say nothing. */
const struct ins_rule *const ins_rules[INS_RULES + 1] = {
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

bool ins_rule_can(const struct ins_rule *rule, const struct ins_look *look)
{
	switch (rule->needs) {
	case INS_NEEDS_ONE:
		return true;
	case INS_NEEDS_TWO:
		return !look->single || look->since;
	case INS_NEEDS_PROCESS:
		return look->pid != 0;
	case INS_NEEDS_MEMORY:
		return look->deep;
	}
	return false;
}

static uint64_t fibers_of(const struct ins_findings *findings)
{
	uint64_t sum = findings->more;
	size_t i;

	for (i = 0; i < findings->count; i++)
		sum += findings->all[i].fibers ? findings->all[i].fibers : 1;
	return sum;
}

int ins_rules_count(struct ins_look *look, uint64_t ret[INS_RULES])
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < INS_RULES; i++) {
		/* A list of its own: the findings of one rule cannot displace those of another. */
		struct ins_findings findings = {0};

		rc = ins_rules[i]->find(look, &findings);
		ret[i] = ins_rule_can(ins_rules[i], look) ? fibers_of(&findings) : INS_RULE_CANNOT;
		ins_findings_drop(&findings);
	}
	return rc;
}
