/* SPDX-License-Identifier: MIT */
/* rule_limits.c - the process is near its limit of descriptors, or its control group of memory */
#include "inspect/why/rules.h"

#include <errno.h>

#define NEAR_PERCENT 90

enum limit { DESCRIPTORS, MEMORY }; /* the subject of a finding */

static bool is_near(uint64_t used, uint64_t most)
{
	return most && used >= most / 100 * NEAR_PERCENT + most % 100 * NEAR_PERCENT / 100;
}

static int add(struct ins_findings *ret, enum limit limit)
{
	struct ins_finding *f = ins_findings_add(ret, &ins_rule_limits, INS_SLOW);

	if (!f)
		return -ENOMEM;
	f->subject = limit;
	return 0;
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	const struct ins_condition *c = &look->condition;
	int rc = 0;

	if (is_near(c->descriptors, c->descriptors_most))
		rc = add(ret, DESCRIPTORS);
	if (rc == 0 && is_near(c->memory, c->memory_most))
		rc = add(ret, MEMORY);
	return rc;
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	const struct ins_condition *c = &look->condition;

	ins_strbuf_number(&line, f->subject == MEMORY ? c->memory : c->descriptors);
	ins_strbuf_text(&line, " of at most ");
	ins_strbuf_number(&line, f->subject == MEMORY ? c->memory_most : c->descriptors_most);
	ins_strbuf_text(&line, f->subject == MEMORY ? " bytes of memory are in use"
						    : " descriptors are open");
	line = ins_finding_line(f);
	ins_strbuf_text(&line,
			f->subject == MEMORY
				? "memory.max of its control group: beyond it the kernel ends it"
				: "beyond the limit accept, open and connect fail (EMFILE)");
}

const struct ins_rule ins_rule_limits = {"limits",
					 "limits of descriptors and memory that are nearly reached",
					 find, say, INS_NEEDS_PROCESS};
