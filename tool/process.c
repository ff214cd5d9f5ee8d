/* SPDX-License-Identifier: MIT */
/*
 * process.c - find the process that is meant, or explain why it cannot be asked
 *
 * The user who types a pid knows that the process exists, so "no such file" would not help. If
 * there is no socket, the process itself is inspected: is it alive, does it belong to this user,
 * does it have fibers? Each case has its own remedy; fibertrace is suggested where it would work.
 *
 * A snapshot file may be given instead of a process: by its path, or by a name that no process has.
 */
#include "tool/process.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "inspect/process/silence.h"
#include "inspect/render/render.h"
#include "inspect/process/permission.h"
#include "inspect/source/source.h"
#include "inspect/text/member.h"
#include "inspect/text/read_file.h"
#include "inspect/source/snapshot.h"
#include "inspect/text/duration.h"
#include "inspect/text/escape.h"
#include "inspect/threads/threads.h"
#include "tool/of_others.h"
#include "tool/report.h"
#include "tool/round.h"
#include "tool/tool.h"

const char *tool_process_command(pid_t pid, char *buf, size_t size)
{
	char path[64], *text;
	size_t n, i;

	buf[0] = 0;
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)ins_member(pid));
	if (ins_read_file(path, &text, &n) < 0)
		return buf;
	for (i = 0; i + 1 < n; i++)
		if (!text[i])
			text[i] = ' ';
	snprintf(buf, size, "%s", text);
	free(text);
	if (!buf[0])
		ins_permission_status(pid, "Name", buf, size);
	return buf;
}

bool tool_process_alive(pid_t pid)
{
	return kill(pid, 0) == 0 || errno == EPERM;
}

/* Explain why pid has no socket. */
static int explain_absence(pid_t pid)
{
	struct ins_source *source;
	struct ins_error error, ignored;
	char places[1024], reason[sizeof error.text];
	int rc = ins_permission_owner(pid, &error);

	if (rc < 0)
		return tool_cannot("%s", error.text);
	rc = ins_source_open_live(pid, &error, &source);
	tool_sockets_places(places, sizeof places);
	if (rc == -EPERM)
		return tool_cannot("process %d: has no control socket in %s: it has no fibers, was "
				   "started with FIBER_CONTROL=off or keeps it elsewhere (give its "
				   "path); its memory would tell, but it %s",
				   (int)pid, places,
				   ins_permission_reason(pid, rc, reason, sizeof reason));
	if (rc == -ENOENT && ins_source_open_process(pid, &ignored, &source) == 0) {
		ins_source_close(source);
		return tool_cannot("%s; 'fibertrace %d' shows its threads", error.text, (int)pid);
	}
	if (rc < 0)
		return tool_cannot("%s", error.text);
	ins_source_close(source);
	return tool_cannot(
		"process %d: has fibers but no control socket in %s: it was started with "
		"FIBER_CONTROL=off, keeps it elsewhere (give its path), or they are another "
		"library's; 'fibertrace %d' needs none, nor does --module NAME",
		(int)pid, places, (int)pid);
}

/*
 * Explain why no process listens at the socket named for pid. Its program exited, executed another
 * program or closed its descriptors; or an earlier process with that id made the socket.
 */
static int explain_silence(pid_t pid, const struct tool_socket *socket)
{
	char name[64] = "?", clean[sizeof name * 4], path[TOOL_PATH], why[INS_ACCESS_EXPLAIN_SIZE];
	const enum tool_made made = tool_sockets_made(pid, socket);
	struct ins_source *source;
	struct ins_error error;
	const char *removed;

	/* It has fibers but does not listen: closed descriptors, or a sandbox. */
	if (tool_process_alive(pid) && ins_source_open_live(pid, &error, &source) == 0) {
		ins_source_close(source);
		return tool_cannot(
			"%s: %s", ins_escape(socket->path, path, sizeof path),
			ins_process_silence(socket->path, pid, -ECONNREFUSED, why, sizeof why));
	}
	removed = tool_sockets_tidy(socket) ? ", which is removed now" : "";
	ins_escape(socket->path, path, sizeof path);
	if (!tool_process_alive(pid))
		return tool_cannot("process %d: no such process; it left %s behind%s", (int)pid,
				   path, removed);
	ins_permission_status(pid, "Name", name, sizeof name);
	ins_escape_quoted(name, clean, sizeof clean);
	if (made == TOOL_MADE_BY_IT)
		return tool_cannot("process %d: runs another program now: %s; the one before it "
				   "left %s behind%s",
				   (int)pid, clean, path, removed);
	return tool_cannot("process %d: has no control socket: it is %s; %s of that id left %s "
			   "behind%s",
			   (int)pid, clean,
			   made == TOOL_MADE_EARLIER ? "an earlier process, or one of a container,"
						     : "it or an earlier process",
			   path, removed);
}

static int find_pid(pid_t pid, struct tool_socket *ret)
{
	char who[128], uid[32] = "", path[TOOL_PATH];

	if (tool_sockets_of(pid, ret))
		return TOOL_WELL;
	if (!ret->path[0])
		return explain_absence(pid);
	if (ret->pid < 0)
		return explain_silence(pid, ret);
	if (!tool_process_alive(pid))
		return explain_absence(pid);
	if (ret->pid)
		snprintf(uid, sizeof uid, " (uid %u)", (unsigned)ret->uid);
	return tool_cannot("process %d: has no control socket: %s%s listens at %s", (int)pid,
			   tool_socket_who(ret, who, sizeof who), uid,
			   ins_escape(ret->path, path, sizeof path));
}

/* -- by name -- */

void tool_several_add(struct tool_several *several, pid_t pid)
{
	if (several->count < TOOL_SEVERAL)
		several->pid[several->count] = pid;
	several->count++;
}

const char *tool_several_list(const struct tool_several *several, char *buf, size_t size)
{
	size_t used = 0;
	unsigned i;

	buf[0] = 0;
	for (i = 0; i < several->count && i < TOOL_SEVERAL && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%d", i ? ", " : "",
					 (int)several->pid[i]);
	if (several->count > TOOL_SEVERAL && used < size)
		snprintf(buf + used, size - used, ", ...");
	return buf;
}

/* How long the process has existed: "3h12m"; "-": unknown. Returns buf. */
static const char *age_of(pid_t pid, char *buf, size_t size)
{
	const uint64_t ticks = tool_process_started(pid);
	const int64_t began = (int64_t)(ticks / (uint64_t)sysconf(_SC_CLK_TCK));
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	if (!ticks || now.tv_sec < began) {
		snprintf(buf, size, "-");
		return buf;
	}
	return ins_duration_text((now.tv_sec - began) * INT64_C(1000000000), buf, size);
}

int tool_several_say(const struct tool_several *several, const char *name)
{
	char command[256], clean[sizeof command * 4], age[32];
	unsigned i;
	int code = tool_cannot("%s: %u processes have that name: give a process id:", name,
			       several->count);

	for (i = 0; i < several->count && i < TOOL_SEVERAL; i++) {
		tool_process_command(several->pid[i], command, sizeof command);
		fprintf(stderr, "%10d  %8s  %s\n", (int)several->pid[i],
			age_of(several->pid[i], age, sizeof age),
			ins_escape_quoted(command, clean, sizeof clean));
	}
	if (i < several->count)
		fprintf(stderr, "%10s\n", "...");
	return code;
}

struct search {
	const char *name;
	struct tool_several found;
	struct tool_socket first;
};

/* Whether the process has that name; the system's name counts if it does not answer. */
static bool has_name(const struct tool_asked *one, struct fib_wire_process *process,
		     const char *name)
{
	char text[64];

	if (one->rc == 0)
		return tool_socket_says(&one->socket, process) && strcmp(process->name, name) == 0;
	return tool_process_alive(one->socket.pid) &&
	       ins_permission_status(one->socket.pid, "Name", text, sizeof text) == 0 &&
	       strcmp(text, name) == 0;
}

static void look_at(struct search *search, const struct tool_asked *one,
		    struct fib_wire_process *process)
{
	if (one->rc == -ETIME)
		tool_left_out(&one->socket);
	if (!has_name(one, process, search->name))
		return;
	if (!search->found.count)
		search->first = one->socket;
	tool_several_add(&search->found, one->socket.pid);
}

static unsigned count_named(const char *name, struct search *search)
{
	struct fib_wire_process *process = NULL;
	struct tool_round round;
	size_t i;

	*search = (struct search){.name = name};
	if (tool_round_gather(&round) == 0 && round.count)
		process = tool_round_hello(&round, TOOL_HELLO_TIMEOUT);
	for (i = 0; process && i < round.count; i++)
		look_at(search, &round.all[i], &process[i]);
	free(process);
	tool_round_free(&round);
	return search->found.count;
}

static int find_name(const char *name, struct tool_socket *ret)
{
	static struct search search;
	char places[1024], clean[256];
	struct ins_error error;
	struct stat file;
	pid_t of_others;

	ins_escape_quoted(name, clean, sizeof clean);
	if (!count_named(name, &search) && stat(name, &file) < 0 &&
	    (of_others = tool_of_others(name)) && ins_permission_owner(of_others, &error) < 0)
		return tool_cannot("%s: no process of that name is yours; %s", clean, error.text);
	if (!search.found.count)
		return tool_cannot("%s: no process of that name has a control socket in %s: "
				   "'fiberctl' lists those that have%s",
				   clean, tool_sockets_places(places, sizeof places),
				   stat(name, &file) == 0 && S_ISREG(file.st_mode) && !file.st_size
					   ? "; the file of that name is empty"
					   : "");
	if (search.found.count > 1)
		return tool_several_say(&search.found, clean);
	*ret = search.first;
	return TOOL_WELL;
}

/* Whether a file is meant and not a process. */
static bool is_file(const char *who)
{
	static struct search search;
	uint64_t number;

	if (strchr(who, '/'))
		return ins_snapshot_meant(who);
	/* The program file itself may be in the current directory. */
	if (!ins_snapshot_begins(who))
		return false;
	if (tool_parse_id(who, &number) && number <= INT32_MAX)
		return !tool_process_alive((pid_t)number);
	return !count_named(who, &search);
}

int tool_process_find(const char *who, struct tool_socket *ret)
{
	char clean[256];
	uint64_t number;

	*ret = (struct tool_socket){.owner = geteuid()};
	/* If access is denied, the attempt to connect reports it. */
	if (is_file(who) && access(who, F_OK) == 0)
		return tool_cannot("%s: is a snapshot: this needs the process itself",
				   ins_escape_quoted(who, clean, sizeof clean));
	if (strchr(who, '/')) {
		tool_sockets_at(who, ret);
		return TOOL_WELL;
	}
	if (tool_parse_id(who, &number) && number <= INT32_MAX)
		return find_pid((pid_t)number, ret);
	return find_name(who, ret);
}

int tool_process_look(const char *who, struct tool_socket *ret, bool *ret_snapshot)
{
	*ret_snapshot = is_file(who);
	return *ret_snapshot ? TOOL_WELL : tool_process_find(who, ret);
}

int tool_process_open(const char *who, struct ins_source **ret)
{
	struct tool_socket socket;
	struct ins_error error;
	bool snapshot;
	int rc = tool_process_look(who, &socket, &snapshot);

	if (rc != TOOL_WELL)
		return rc;
	if (snapshot) {
		rc = ins_source_open_snapshot(who, &error, ret);
		/* An older one has no threads, or there is no memory: its fibers are shown. */
		if (rc == 0)
			ins_threads_mix(*ret);
	} else {
		rc = ins_source_open_control(socket.path, socket.pid, TOOL_TIMEOUT, &error, ret);
	}
	return rc < 0 ? tool_cannot("%s", error.text) : TOOL_WELL;
}

int tool_process_still(const char *who)
{
	return tool_cannot("%s: is a snapshot: nothing comes that could be followed", who);
}

int tool_refused(const struct tool_socket *socket, int rc, const char *why)
{
	char denied[INS_ACCESS_EXPLAIN_SIZE];

	if (!why || !why[0])
		why = ins_process_silence(socket->path, socket->pid, rc, denied, sizeof denied);
	return tool_cannot("%s: %s", socket->path, why);
}
