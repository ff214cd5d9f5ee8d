/* SPDX-License-Identifier: MIT */
/* finding.c - a list of findings */
#include "inspect/why/rules.h"

#include <stdlib.h>
#include <string.h>

struct ins_finding *ins_findings_add(struct ins_findings *findings, const struct ins_rule *rule,
				     enum ins_severity severity)
{
	struct ins_finding *f;

	if (findings->count == INS_FINDINGS_MOST) {
		findings->more++;
		return &findings->other;
	}
	if (findings->count == findings->room) {
		const size_t room = findings->room ? findings->room * 2 : 8;
		struct ins_finding *all = realloc(findings->all, room * sizeof *all);

		if (!all)
			return NULL;
		findings->all = all;
		findings->room = room;
	}
	f = &findings->all[findings->count++];
	memset(f, 0, sizeof *f);
	f->rule = rule;
	f->severity = severity;
	return f;
}

static int worst_first(const void *a, const void *b)
{
	const struct ins_finding *x = a, *y = b;

	if (x->severity != y->severity)
		return x->severity < y->severity ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->rule != y->rule)
		return strcmp(x->rule->name, y->rule->name);
	return x->subject < y->subject ? -1 : x->subject > y->subject;
}

void ins_findings_sort(struct ins_findings *findings)
{
	if (findings->count)
		qsort(findings->all, findings->count, sizeof *findings->all, worst_first);
}

void ins_findings_drop(struct ins_findings *findings)
{
	free(findings->all);
	*findings = (struct ins_findings){0};
}

struct ins_strbuf ins_finding_headline(struct ins_finding *finding)
{
	return ins_strbuf(finding->headline, sizeof finding->headline);
}

struct ins_strbuf ins_finding_line(struct ins_finding *finding)
{
	size_t i = 0;

	while (i < INS_FINDING_LINES - 1 && finding->evidence[i][0])
		i++;
	return ins_strbuf(finding->evidence[i], sizeof finding->evidence[i]);
}
