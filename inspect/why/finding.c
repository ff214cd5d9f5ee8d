/* SPDX-License-Identifier: MIT */
/* finding.c - a list of findings */
#include "inspect/why/rules.h"

#include <stdlib.h>
#include <string.h>

/* The last one that does not last; NULL: all do. */
static struct ins_finding *last_slow(struct ins_findings *findings)
{
	size_t i = findings->count;

	while (i && findings->all[i - 1].severity == INS_LASTS)
		i--;
	return i ? &findings->all[i - 1] : NULL;
}

/* Room for another one; NULL: out of memory. */
static struct ins_finding *more(struct ins_findings *findings)
{
	if (findings->count == findings->room) {
		const size_t room = findings->room ? findings->room * 2 : 8;
		struct ins_finding *all = realloc(findings->all, room * sizeof *all);

		if (!all)
			return NULL;
		findings->all = all;
		findings->room = room;
	}
	return &findings->all[findings->count++];
}

struct ins_finding *ins_findings_add(struct ins_findings *findings, const struct ins_rule *rule,
				     enum ins_severity severity)
{
	const bool full = findings->count == INS_FINDINGS_MOST;
	struct ins_finding *f = full ? NULL : more(findings);

	if (full) {
		findings->more++;
		f = severity == INS_LASTS ? last_slow(findings) : NULL;
		if (!f)
			return &findings->other;
	}
	if (!f)
		return NULL;
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
