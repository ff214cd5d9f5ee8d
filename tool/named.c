/* SPDX-License-Identifier: MIT */
/*
 * named.c - find a process by name, with or without a control socket
 *
 * The user may look for a process because it does not answer. So no process is asked: a program
 * with fibers has its own name in its registry, from which the socket has it too. Reading the
 * memory of all processes would take long. So only two sorts of processes are read: those with a
 * thread that is named like libfiber's threads, and those whose system name is the wanted one
 * (fiber programs of another library).
 *
 * If memory may not be read, the socket is asked instead, only to report which right is missing.
 *
 * The name that a process gives itself takes precedence over its system name, because the tools
 * show it.
 */
#include "tool/named.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/source/source.h"
#include "inspect/process/threads.h"
#include "tool/process.h"
#include "tool/report.h"
#include "tool/tool.h"

#define THREADS "fiber-" /* what the names of libfiber's threads begin with */

struct search {
	const char *name;
	struct ins_threads threads;
	struct tool_several own;    /* processes with that name of their own */
	struct tool_several system; /* processes with only that system name */
	struct tool_several closed; /* that system name, memory not readable */
	struct tool_several others; /* that system name, no fibers */
};

static bool has_fiber_threads(struct search *s, pid_t pid)
{
	size_t i;

	ins_threads_list(pid, &s->threads);
	for (i = 0; i < s->threads.count; i++)
		if (strncmp(s->threads.at[i].name, THREADS, sizeof THREADS - 1) == 0)
			return true;
	return false;
}

static bool answers_so(pid_t pid, const char *name)
{
	struct fib_wire_process process;
	struct tool_socket socket;

	return tool_sockets_of(pid, &socket) &&
	       tool_hello(&socket, TOOL_HELLO_TIMEOUT, &process) == 0 &&
	       strcmp(process.name, name) == 0;
}

static void look_at(struct search *s, pid_t pid)
{
	char name[INS_THREAD_NAME];
	struct ins_source *source;
	struct ins_error error;
	bool called;
	int rc;

	if (!ins_thread_name(pid, (uint64_t)pid, name))
		return;
	called = strcmp(name, s->name) == 0;
	if (!called && !has_fiber_threads(s, pid))
		return;
	rc = ins_source_open_live(pid, &error, &source);
	if (rc == 0) {
		if (strcmp(source->name, s->name) == 0)
			tool_several_add(&s->own, pid);
		else if (called)
			tool_several_add(&s->system, pid);
		ins_source_close(source);
	} else if (rc == -EPERM || rc == -EACCES) {
		if (called || answers_so(pid, s->name))
			tool_several_add(&s->closed, pid);
	} else if (called && rc != -ESRCH) {
		tool_several_add(&s->others, pid);
	}
}

static void look_at_all(struct search *s)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid())
			look_at(s, pid);
	}
	if (dir)
		closedir(dir);
	ins_threads_free(&s->threads);
}

/* What a name may mean beside a process with fibers. */
struct meaning {
	bool file;   /* the file of that name, which exists: then no process is not an error */
	bool files;  /* any file */
	bool others; /* a process without fibers */
	bool closed; /* a process whose memory cannot be read */
};

static int nobody(const struct search *s, bool file)
{
	char pids[256];

	if (s->others.count)
		return tool_cannot("%s: no process of that name has fibers: looked at %s", s->name,
				   tool_several_list(&s->others, pids, sizeof pids));
	return tool_cannot("%s: no process with fibers has that name%s", s->name,
			   file ? ", and no file: give a process id, or the path of a core or a "
				  "snapshot"
				: ": give a process id");
}

static int find_name(const char *name, const struct meaning *meaning, pid_t *ret)
{
	static struct search s;
	const struct tool_several *found;

	s = (struct search){.name = name};
	look_at_all(&s);
	found = s.own.count ? &s.own : &s.system;
	if (!found->count && meaning->others)
		found = &s.others;
	if (found->count > 1)
		return tool_several_say(found, name);
	/* Opening it reports which right is missing. */
	if (!found->count && meaning->closed)
		found = &s.closed;
	*ret = found->count ? found->pid[0] : 0;
	return *ret || meaning->file ? TOOL_WELL : nobody(&s, meaning->files);
}

static int find(const char *who, const struct meaning *meaning, pid_t *ret)
{
	const bool digits = who[strspn(who, "0123456789")] == 0;
	uint64_t number;

	if (!digits)
		return find_name(who, meaning, ret);
	*ret = 0;
	if (tool_parse_id(who, &number) && number <= INT32_MAX &&
	    (!meaning->file || tool_process_alive((pid_t)number)))
		*ret = (pid_t)number;
	if (*ret || meaning->file)
		return TOOL_WELL;
	return tool_wrong(NULL, "'%s': is no process id%s", who,
			  meaning->files ? ", and no file" : "");
}

int tool_named_look(const char *who, bool file, bool any, pid_t *ret)
{
	const struct meaning meaning = {
		.file = file, .files = true, .others = any && !file, .closed = !file};

	return find(who, &meaning, ret);
}

int tool_named_process(const char *who, bool file, pid_t *ret)
{
	const struct meaning meaning = {.file = file, .closed = true};

	return find(who, &meaning, ret);
}
