/* SPDX-License-Identifier: MIT */
/*
 * cmd_serve.c - fiberctl serve, in a fiberctl that is linked statically
 *
 * The archive of libmicrohttpd needs archives that Debian does not have: of GnuTLS's p11-kit. So
 * `make STATIC=1` compiles this file instead of fiberctl/cmd_serve.c and fiberctl/serve/.
 */
#include "fiberctl/fiberctl.h"
#include "tool/report.h"

static int run(const struct tool_arguments *arguments)
{
	(void)arguments;
	return tool_cannot(
		"serve: this fiberctl is linked statically, without libmicrohttpd: use the "
		"one that 'make' builds");
}

const struct tool_command ctl_serve = {
	.name = "serve",
	.usage = "[PROGRAM]...",
	.summary = "a page, /metrics and pprof over HTTP (not in this fiberctl)",
	.help = "This fiberctl is linked statically, without libmicrohttpd. It serves nothing.\n",
	.example = "serve\n",
	.least = 0,
	.most = TOOL_WORDS,
	.live = true,
	.options = TOOL_TAKES(TOOL_OPT_LISTEN) | TOOL_TAKES(TOOL_OPT_TOKEN_FILE) |
		   TOOL_TAKES(TOOL_OPT_ALLOW_CHANGES),
	.run = run,
};
