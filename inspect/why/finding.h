/* SPDX-License-Identifier: MIT */
/*
 * finding.h - the room why/: what is wrong with a program, worst first
 *
 * Takes: two readings of the fibers of a source, their graph of waits, deadlocks.
 * Gives: findings, each with numbers, the place in the program's source and its evidence.
 * Used by: render/, tool/.
 *
 * A rule is a file rule_<name>.c and a line in the table of rules.c. It looks for one kind of fault.
 */
#ifndef INS_FINDING_H
#define INS_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "inspect/text/sample.h"
#include "inspect/text/strbuf.h"

struct ins_rule;

enum ins_severity {
	INS_LASTS, /* it will not end by itself */
	INS_SLOW,  /* it is slow or suspicious */
};

#define INS_FINDING_LINES 4

struct ins_finding {
	const struct ins_rule *rule;
	enum ins_severity severity;
	uint64_t fibers; /* how many it concerns */
	uint64_t weight; /* among findings of one severity the largest comes first */
	size_t subject;	 /* the rule's own: which one it has found */
	/* -- of a finding that has been put into words: -- */
	struct ins_sample ids;
	char headline[256]; /* one sentence */
	/* What it is based on; "" after the last. Texts of the program are escaped. */
	char evidence[INS_FINDING_LINES][320];
	char place[256]; /* "store.c:230 in compact"; "": unknown */
	/* Commands that show more, without the tool's name: "show", and an id; 0: no id. */
	const char *more[2];
	uint64_t more_id[2];
};

/* More would be of no use, and a damaged program could have millions. */
#define INS_FINDINGS_MOST 4096

struct ins_findings {
	struct ins_finding *all;
	size_t count, room;
	size_t more;		  /* found, but not kept */
	struct ins_finding other; /* one that is not kept */
};

/*
 * A new finding at the end; its texts are empty. After INS_FINDINGS_MOST it is only counted. NULL: no
 * memory.
 */
struct ins_finding *ins_findings_add(struct ins_findings *findings, const struct ins_rule *rule,
				     enum ins_severity severity);

/* Worst first. */
void ins_findings_sort(struct ins_findings *findings);

void ins_findings_drop(struct ins_findings *findings);

/* A line of text in the headline, or in the next free line of evidence. */
struct ins_strbuf ins_finding_headline(struct ins_finding *finding);
struct ins_strbuf ins_finding_line(struct ins_finding *finding);

#endif
