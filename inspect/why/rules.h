/* SPDX-License-Identifier: MIT */
/* rules.h - what the rules look for: one file and one line in the table for each */
#ifndef INS_RULES_H
#define INS_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/why/finding.h"
#include "inspect/why/look.h"

/* What a rule cannot do without. */
enum ins_needs {
	INS_NEEDS_ONE,	   /* one reading */
	INS_NEEDS_TWO,	   /* two readings, or an older snapshot to compare with */
	INS_NEEDS_PROCESS, /* one reading, and the process in /proc */
	INS_NEEDS_MEMORY,  /* the memory of the program, and that it was asked for */
};

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
	enum ins_needs needs;
};

#define INS_RULES 16

/* In the order in which they look; the last entry is NULL. */
extern const struct ins_rule *const ins_rules[INS_RULES + 1];

extern const struct ins_rule ins_rule_stopped, ins_rule_deadlock, ins_rule_convoy, ins_rule_carrier,
	ins_rule_delay, ins_rule_pinned, ins_rule_stack, ins_rule_growth, ins_rule_limits,
	ins_rule_forgotten, ins_rule_signal, ins_rule_peer, ins_rule_offload, ins_rule_failed,
	ins_rule_leaks, ins_rule_recorder;

/*
 * Apply all rules, sort the findings, and put the first `most` of them into words. Returns 0 or a
 * negative errno.
 */
int ins_rules_apply(struct ins_look *look, size_t most, struct ins_findings *ret);

/* Whether the look has what the rule needs. If not, the rule finds nothing in it. */
bool ins_rule_can(const struct ins_rule *rule, const struct ins_look *look);

/* Of a rule that the look does not have enough for. */
#define INS_RULE_CANNOT UINT64_MAX

/*
 * Apply all rules, without words. ret[i]: how many fibers the findings of ins_rules[i] concern, 1 or
 * more if there is a finding, 0 if there is none, or INS_RULE_CANNOT. Of more than INS_FINDINGS_MOST
 * findings of one rule each further one counts as 1. Returns 0 or a negative errno.
 */
int ins_rules_count(struct ins_look *look, uint64_t ret[INS_RULES]);

#endif
