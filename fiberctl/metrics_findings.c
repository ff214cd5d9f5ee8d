/* SPDX-License-Identifier: MIT */
/*
 * metrics_findings.c - write the findings of programs as metric families
 *
 * Every rule that a look can tell always has a sample, with 0 if it has found nothing. A rule that
 * needs more than the look has no sample: 0 would say that all is well. The same holds for all rules
 * of a program whose fibers could not be looked at, and libfiber_look_ok is then 0.
 */
#include "fiberctl/metrics_findings.h"

#include "fiberctl/metric_labels.h"

static void put_findings(struct ctl_sink *out, const char *name, const struct ctl_process_stats *p)
{
	struct ctl_labels l;
	size_t i;

	ctl_label_process(&l, p);
	for (i = 0; i < INS_RULES; i++) {
		if (p->findings.fibers[i] == INS_RULE_CANNOT)
			continue;
		l.at[CTL_LABEL_FREE] = (struct ctl_label){"rule", ins_rules[i]->name};
		ctl_sample(out, name, "", l.at, p->findings.fibers[i]);
	}
}

static bool any_looked(const struct ctl_process_stats *all, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (all[i].findings.looked)
			return true;
	return false;
}

static bool any_asked(const struct ctl_process_stats *all, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (all[i].asked)
			return true;
	return false;
}

void ctl_metrics_findings(struct ctl_sink *out, const struct ctl_process_stats *all, size_t n)
{
	struct ctl_labels l;
	size_t i;

	if (!any_asked(all, n))
		return;
	ctl_family(out, "libfiber_look_ok", CTL_GAUGE, "Whether its fibers could be looked at.");
	for (i = 0; i < n; i++) {
		if (!all[i].asked)
			continue;
		ctl_label_process(&l, &all[i]);
		ctl_sample(out, "libfiber_look_ok", "", l.at, all[i].findings.looked);
	}
	if (!any_looked(all, n))
		return;
	ctl_family(out, "libfiber_finding", CTL_GAUGE,
		   "Fibers that the findings of a rule of 'fiberctl why' concern.");
	for (i = 0; i < n; i++)
		if (all[i].findings.looked)
			put_findings(out, "libfiber_finding", &all[i]);
}
