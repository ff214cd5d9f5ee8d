/* SPDX-License-Identifier: MIT */
/*
 * by_module.c - the fibers of one library of a process, read from its memory
 *
 * A control socket serves the fibers of one libfiber. A process may have other libraries with
 * fibers, such as libfiber-win32: each has a registry (fiber_layout.h) and no socket. --module
 * selects one of them. Its fibers are read as fibertrace reads them, which needs the same rights.
 * But no thread is stopped, as with every command of fiberctl: a fiber that computes has no frames.
 */
#include "fiberctl/by_module.h"

#include <errno.h>
#include <string.h>

#include "inspect/corefile/core.h"
#include "inspect/source/registry.h"
#include "inspect/source/snapshot.h"
#include "inspect/source/source.h"
#include "inspect/text/escape.h"
#include "inspect/threads/threads.h"
#include "tool/named.h"
#include "tool/peer.h"
#include "tool/process.h"
#include "tool/report.h"

static int refuse_file(const char *who, bool core)
{
	char clean[1024];

	ins_escape_quoted(who, clean, sizeof clean);
	if (core)
		return tool_cannot(
			"%s: is a file and no process: 'fibertrace --core' reads a core, and "
			"takes --module too",
			clean);
	return tool_cannot("%s: is a snapshot, which has the fibers of one library: leave --module "
			   "out",
			   clean);
}

/* Find the process that listens at the socket with this path. */
static int find_listener(const char *path, pid_t *ret)
{
	struct tool_socket socket;
	struct tool_peer peer;
	char clean[TOOL_PATH];
	int rc = tool_peer_ask(path, &peer);

	tool_sockets_at(path, &socket);
	if (rc < 0)
		return tool_refused(&socket, rc, NULL);
	*ret = peer.pid;
	if (peer.pid)
		return TOOL_WELL;
	return tool_cannot("%s: its process is in another pid namespace (a container): run this "
			   "inside of that, or on the host",
			   ins_escape(path, clean, sizeof clean));
}

static int find(const char *who, pid_t *ret)
{
	const bool core = ins_core_meant(who), file = core || ins_snapshot_begins(who);
	int code = TOOL_WELL;

	*ret = 0;
	if (!strchr(who, '/'))
		code = tool_named_process(who, file, ret);
	else if (!file)
		code = find_listener(who, ret);
	return code == TOOL_WELL && !*ret ? refuse_file(who, core) : code;
}

int ctl_by_module_open(const struct tool_arguments *arguments, const char *who,
		       struct ins_source **ret)
{
	struct ins_error error = {""};
	pid_t pid;
	int rc, code;

	/* A running thread may have the only pointer to a fiber in its registers. */
	if (arguments->option[TOOL_OPT_DEEP])
		return tool_cannot("--deep: needs the registers of all threads, and fiberctl stops "
				   "none: give the process or its core to fibertrace");
	code = find(who, &pid);
	if (code != TOOL_WELL)
		return code;
	/* Not earlier: a process is found by its name whatever libraries it has. */
	ins_registry_choose(arguments->option[TOOL_OPT_MODULE]);
	rc = ins_source_open_live(pid, &error, ret);
	if (rc < 0)
		return tool_cannot("%s", error.text);
	/* The threads that its fibers wait for, or that wait for its fibers. */
	if (ins_threads_mix(*ret) == -ENOMEM) {
		ins_source_close(*ret);
		return tool_cannot("out of memory");
	}
	return TOOL_WELL;
}
