/* SPDX-License-Identifier: MIT */
/* verdict.c - one look at a program, for lists of programs */
#include "fiberctl/verdict.h"

#include <inttypes.h>
#include <stdio.h>

#include "inspect/source/source.h"
#include "inspect/why/rules.h"
#include "tool/process.h"

/* Nothing is put into words: a word needs no stacks. */
static int look_at(struct ins_look *look, struct ins_findings *findings)
{
	struct ins_error error = {""};
	int rc = ins_look_take(look, 0, &error);

	return rc < 0 ? rc : ins_rules_apply(look, 0, findings);
}

const char *ctl_verdict(const struct tool_socket *socket, char *buf, size_t size)
{
	struct ins_look look = {.single = true, .pid = socket->pid};
	struct ins_findings findings = {0};
	struct ins_error error = {""};

	snprintf(buf, size, "-");
	if (ins_source_open_control(socket->path, socket->pid, TOOL_HELLO_TIMEOUT, &error,
				    &look.source) < 0)
		return buf;
	if (look_at(&look, &findings) == 0) {
		const struct ins_finding *worst = findings.all;

		if (!findings.count)
			snprintf(buf, size, "ok");
		else if (worst->fibers)
			snprintf(buf, size, "%s %" PRIu64, worst->rule->name, worst->fibers);
		else
			snprintf(buf, size, "%s", worst->rule->name);
	}
	ins_findings_drop(&findings);
	ins_look_drop(&look);
	ins_source_close(look.source);
	return buf;
}
