/* SPDX-License-Identifier: MIT */
/* process_row.c - one program in the list of programs */
#include "fiberctl/process_row.h"

#include <stdio.h>

#include "fiberctl/policy.h"
#include "inspect/render/render.h"
#include "tool/process.h"

void ctl_process_describe(const struct fib_wire_process *p, const struct tool_socket *socket,
			  char *buf, size_t size)
{
	char who[128];

	buf[0] = 0;
	if (socket->pid)
		tool_process_command(socket->pid, buf, size);
	else
		snprintf(buf, size, "%s (%s)", p->name, tool_socket_who(socket, who, sizeof who));
	if (!buf[0])
		snprintf(buf, size, "%s", p->name);
}

json_t *ctl_process_row(const struct fib_wire_process *p, const struct tool_socket *socket,
			const char *verdict)
{
	char command[256];

	ctl_process_describe(p, socket, command, sizeof command);
	return json_pack("{s:i, s:o, s:I, s:i, s:s, s:s, s:o, s:I, s:o}", "pid", (int)socket->pid,
			 "name", ins_json_text(p->name), "fibers", (json_int_t)p->fibers,
			 "carriers", (int)p->carriers, "policy", ctl_policy_name(p->policy),
			 "verdict", verdict, "command", ins_json_text(command), "uid",
			 (json_int_t)socket->uid, "socket", ins_json_text(socket->path));
}
