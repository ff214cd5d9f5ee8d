/* SPDX-License-Identifier: MIT */
/* rules.h - what the rules look for: one file and one line in the table for each */
#ifndef INS_RULES_H
#define INS_RULES_H

#include "inspect/why/finding.h"
#include "inspect/why/look.h"

struct ins_rule {
	const char *name;
	const char *help; /* one line */
	/*
	 * Add what it finds, with its severity, number of fibers, weight and subject. Returns 0 or a
	 * negative errno. Reads no stacks: there may be thousands of findings.
	 */
	int (*find)(struct ins_look *look, struct ins_findings *ret);
	/* Put a finding into words. */
	void (*say)(struct ins_look *look, struct ins_finding *finding);
};

/* In the order in which they look; the last entry is NULL. */
extern const struct ins_rule *const ins_rules[];

extern const struct ins_rule ins_rule_stopped, ins_rule_deadlock, ins_rule_convoy, ins_rule_carrier,
	ins_rule_delay, ins_rule_pinned, ins_rule_stack, ins_rule_growth, ins_rule_limits,
	ins_rule_forgotten, ins_rule_signal, ins_rule_peer, ins_rule_offload, ins_rule_failed,
	ins_rule_leaks, ins_rule_recorder;

/*
 * Apply all rules, sort the findings, and put the first `most` of them into words. Returns 0 or a
 * negative errno.
 */
int ins_rules_apply(struct ins_look *look, size_t most, struct ins_findings *ret);

#endif
