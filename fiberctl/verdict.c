/* SPDX-License-Identifier: MIT */
/* verdict.c - one look at a program, for lists of programs */
#include "fiberctl/verdict.h"

#include <inttypes.h>
#include <stdio.h>

#include "inspect/source/source.h"
#include "inspect/why/rules.h"
#include "tool/process.h"

static int look_at(struct ins_look *look, struct ins_findings *findings)
{
	struct ins_error error = {""};
	int rc = ins_look_take(look, 0, &error);

	return rc < 0 ? rc : ins_rules_apply(look, 0, findings);
}

const char *ctl_verdict_of(struct ins_source *source, pid_t pid, char *buf, size_t size)
{
	struct ins_look look = {.source = source, .single = true, .silent = true, .pid = pid};
	struct ins_findings findings = {0};
	const struct ins_finding *worst;
	const bool well = look_at(&look, &findings) == 0;

	worst = findings.all;
	if (!well)
		snprintf(buf, size, "-");
	else if (!findings.count)
		snprintf(buf, size, "ok");
	else if (worst->fibers)
		snprintf(buf, size, "%s %" PRIu64, worst->rule->name, worst->fibers);
	else
		snprintf(buf, size, "%s", worst->rule->name);
	ins_findings_drop(&findings);
	ins_look_drop(&look);
	return buf;
}

const char *ctl_verdict(const struct tool_socket *socket, char *buf, size_t size)
{
	struct ins_error error = {""};
	struct ins_source *source;

	snprintf(buf, size, "-");
	if (ins_source_open_control(socket->path, socket->pid, TOOL_HELLO_TIMEOUT, &error,
				    &source) < 0)
		return buf;
	ctl_verdict_of(source, socket->pid, buf, size);
	ins_source_close(source);
	return buf;
}
