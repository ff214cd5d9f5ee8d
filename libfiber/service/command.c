/* SPDX-License-Identifier: MIT */
/* command.c - the table of commands */
#include "service/command.h"

static const struct fib_command *const commands[] = {
	&fib_cmd_hello,	   &fib_cmd_list,     &fib_cmd_show,   &fib_cmd_stack, &fib_cmd_policy,
	&fib_cmd_carriers, &fib_cmd_counters, &fib_cmd_act,    &fib_cmd_audit, &fib_cmd_events,
	&fib_cmd_watchdog, &fib_cmd_record,   &fib_cmd_thread,
};

const struct fib_command *fib_command_find(uint16_t type)
{
	size_t i;

	for (i = 0; i < fib_countof(commands); i++)
		if (commands[i]->type == type)
			return commands[i];
	return NULL;
}
