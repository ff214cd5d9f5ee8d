/* SPDX-License-Identifier: MIT */
/*
 * process.c - finding the process that is meant, or saying why it cannot be asked
 *
 * The person who types a pid knows that the process is there; "no such file" would not help them. So when
 * there is no socket we look at the process itself: is it alive, is it ours, does it have fibers at all?
 * Each answer has another remedy, and where fibertrace would do, it is named.
 *
 * A file stands for a process too, a snapshot of it: by its path, or by a name that no process has.
 */
#include "fiberctl/process.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fiberctl/fiberctl.h"
#include "inspect/render.h"
#include "inspect/rights.h"
#include "inspect/slurp.h"
#include "inspect/snapshot.h"

#define NAMED 16 /* processes of one name that are listed in a message */

const char *ctl_process_command(pid_t pid, char *buf, size_t size)
{
	char path[64], *text;
	size_t n, i;

	buf[0] = 0;
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	if (ins_slurp(path, &text, &n) < 0)
		return buf;
	for (i = 0; i + 1 < n; i++)
		if (!text[i])
			text[i] = ' ';
	snprintf(buf, size, "%s", text);
	free(text);
	if (!buf[0])
		ins_rights_status(pid, "Name", buf, size);
	return buf;
}

static bool alive(pid_t pid)
{
	return kill(pid, 0) == 0 || errno == EPERM;
}

static int is_foreign(pid_t pid, uid_t uid)
{
	const struct passwd *pw = getpwuid(uid);

	return tool_cannot(
		"process %d: permission denied: it belongs to %s (uid %u) and you are uid "
		"%u: run this as that user or as root (sudo)",
		(int)pid, pw ? pw->pw_name : "another user", (unsigned)uid, (unsigned)geteuid());
}

/* There is no socket for pid. */
static int explain_absence(pid_t pid)
{
	struct ins_source *source;
	struct ins_error error;
	char text[128], places[1024];
	uid_t uid;
	int rc;

	if (!alive(pid))
		return tool_cannot("process %d: no such process", (int)pid);
	if (ins_rights_status(pid, "Uid", text, sizeof text) == 0) {
		uid = (uid_t)strtoul(text, NULL, 10);
		if (geteuid() != 0 && uid != geteuid())
			return is_foreign(pid, uid);
	}
	rc = ins_source_open_live(pid, &error, &source);
	if (rc < 0)
		return tool_cannot("%s", error.text);
	ins_source_close(source);
	return tool_cannot(
		"process %d: has fibers but no control socket in %s: it was started with "
		"FIBER_CONTROL=off or keeps it elsewhere (give its path); 'fibertrace %d' "
		"needs none",
		(int)pid, ctl_sockets_places(places, sizeof places), (int)pid);
}

static int find_pid(pid_t pid, struct ctl_socket *ret)
{
	if (!ctl_sockets_of(pid, ret))
		return explain_absence(pid);
	if (alive(pid))
		return TOOL_WELL;
	return tool_cannot("process %d: no such process; it left %s behind%s", (int)pid, ret->path,
			   ctl_sockets_tidy(ret) ? ", which is removed now" : "");
}

struct search {
	const char *name;
	unsigned count;
	struct ctl_socket at[NAMED];
};

/* Whether the process calls itself so; when it does not answer, whether the system calls it so. */
static bool has_name(const struct ctl_socket *socket, const char *name)
{
	struct fib_wire_process process;
	char text[64];

	if (ctl_hello(socket->path, CTL_HELLO_TIMEOUT, &process) == 0)
		return strcmp(process.name, name) == 0;
	return alive(socket->pid) &&
	       ins_rights_status(socket->pid, "Name", text, sizeof text) == 0 &&
	       strcmp(text, name) == 0;
}

static int look_at(void *context, const struct ctl_socket *socket)
{
	struct search *search = context;

	if (has_name(socket, search->name)) {
		if (search->count < NAMED)
			search->at[search->count] = *socket;
		search->count++;
	}
	return 0;
}

static unsigned count_named(const char *name, struct search *search)
{
	*search = (struct search){.name = name};
	ctl_sockets_each(look_at, search);
	return search->count;
}

static int find_name(const char *name, struct ctl_socket *ret)
{
	static struct search search;
	char places[1024], clean[256];
	size_t used = 0;
	unsigned i;

	ins_words_clean(name, clean, sizeof clean);
	count_named(name, &search);
	if (search.count == 1) {
		*ret = search.at[0];
		return TOOL_WELL;
	}
	if (!search.count)
		return tool_cannot("%s: no process of that name has a control socket in %s: "
				   "'fiberctl' lists those that have",
				   clean, ctl_sockets_places(places, sizeof places));
	places[0] = 0;
	for (i = 0; i < search.count && i < NAMED && used < sizeof places; i++)
		used += (size_t)snprintf(places + used, sizeof places - used, "%s%d", i ? ", " : "",
					 (int)search.at[i].pid);
	return tool_cannot("%s: %u processes have that name: give a process id: %s%s", clean,
			   search.count, places, search.count > NAMED ? ", ..." : "");
}

/* Whether it is a file that is meant and no process. */
static bool is_file(const char *who)
{
	static struct search search;
	uint64_t number;

	if (strchr(who, '/'))
		return ins_snapshot_meant(who);
	/* The program itself may lie here, under its name. */
	if (!ins_snapshot_begins(who))
		return false;
	if (tool_parse_id(who, &number) && number <= INT32_MAX)
		return !alive((pid_t)number);
	return !count_named(who, &search);
}

int ctl_process_find(const char *who, struct ctl_socket *ret)
{
	char clean[256];
	uint64_t number;

	*ret = (struct ctl_socket){.owner = geteuid()};
	if (is_file(who))
		return tool_cannot("%s: is a snapshot: this needs the process itself",
				   ins_words_clean(who, clean, sizeof clean));
	if (strchr(who, '/')) {
		snprintf(ret->path, sizeof ret->path, "%s", who);
		return TOOL_WELL;
	}
	if (tool_parse_id(who, &number) && number <= INT32_MAX)
		return find_pid((pid_t)number, ret);
	return find_name(who, ret);
}

int ctl_process_look(const char *who, struct ctl_socket *ret, bool *ret_snapshot)
{
	*ret_snapshot = is_file(who);
	return *ret_snapshot ? TOOL_WELL : ctl_process_find(who, ret);
}

int ctl_process_open(const char *who, struct ins_source **ret)
{
	struct ctl_socket socket;
	struct ins_error error;
	bool snapshot;
	int rc = ctl_process_look(who, &socket, &snapshot);

	if (rc != TOOL_WELL)
		return rc;
	if (snapshot)
		rc = ins_source_open_snapshot(who, &error, ret);
	else
		rc = ins_source_open_control(socket.path, socket.pid, CTL_TIMEOUT, &error, ret);
	return rc < 0 ? tool_cannot("%s", error.text) : TOOL_WELL;
}

int ctl_process_still(const char *who)
{
	return tool_cannot("%s: is a snapshot: nothing comes that could be followed", who);
}

int ctl_refused(const struct ctl_socket *socket, int rc, const char *why)
{
	if (rc == -ETIMEDOUT)
		why = "no answer: the process is stopped, or its service thread hangs; try "
		      "fibertrace";
	else if (rc == -ECONNREFUSED)
		why = "nobody listens: its process is dead";
	return tool_cannot("%s: %s", socket->path, why && why[0] ? why : strerror(-rc));
}
