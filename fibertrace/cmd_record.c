/* SPDX-License-Identifier: MIT */
/* cmd_record.c - fibertrace record PID -o FILE --for 5s */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fibertrace/fibertrace.h"
#include "fibertrace/take.h"
#include "inspect/duration.h"
#include "inspect/plain.h"
#include "inspect/render.h"
#include "inspect/rights.h"
#include "wire/wire.h"

#define RING_EVENTS 131072
#define RING_MOST   (1 << 22)
#define LENGTH	    INT64_C(5000000000)
#define LONGEST	    INT64_C(3600000000000)

/* Somebody else could put a socket into a folder that is not the user's. */
static bool trusted(const char *folder, uid_t uid)
{
	struct stat st;

	return stat(folder, &st) == 0 && S_ISDIR(st.st_mode) && !(st.st_mode & 022) &&
	       (st.st_uid == uid || st.st_uid == 0);
}

static bool find_in(const char *runtime_dir, uid_t uid, pid_t pid, char *path, size_t size)
{
	char folder[PATH_MAX];
	struct stat st;

	if (fib_wire_folder(folder, sizeof folder, runtime_dir, uid) < 0 || !trusted(folder, uid))
		return false;
	return (size_t)snprintf(path, size, "%s/%d.sock", folder, (int)pid) < size &&
	       lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* The socket of a process, or what was typed, if that is a path. 0, or an exit code after saying why. */
static int find_socket(const char *who, char *path, size_t size)
{
	char text[64], *end;
	const long pid = strtol(who, &end, 10);
	uid_t uid = geteuid();

	if (strchr(who, '/')) {
		snprintf(path, size, "%s", who);
		return TOOL_WELL;
	}
	if (*end || pid <= 0 || pid > INT_MAX)
		return tool_wrong(&trace_record, "%s: is no process id", who);
	if (ins_rights_status((pid_t)pid, "Uid", text, sizeof text) < 0)
		return tool_cannot("process %ld: no such process", pid);
	if (uid == 0)
		uid = (uid_t)strtoul(text, NULL, 10);
	if (find_in(getenv("XDG_RUNTIME_DIR"), uid, (pid_t)pid, path, size) ||
	    find_in(NULL, uid, (pid_t)pid, path, size))
		return TOOL_WELL;
	return tool_cannot("process %ld: has no control socket where one is looked for: it has no "
			   "fibers, or was started with FIBER_CONTROL=off, or keeps it elsewhere "
			   "(give its path)",
			   pid);
}

static int parse(const struct tool_arguments *arguments, struct trace_take *ret)
{
	uint64_t ring;

	*ret = (struct trace_take){.path = arguments->option[TOOL_OPT_OUTPUT],
				   .replace = arguments->option[TOOL_OPT_FORCE] != NULL};
	if (!ret->path)
		return tool_wrong(&trace_record, "record: say where to with -o FILE");
	if (!tool_option_duration(arguments, TOOL_OPT_FOR, LENGTH, &ret->length) ||
	    !tool_option_number(arguments, TOOL_OPT_RING, 256, RING_MOST, RING_EVENTS, &ring))
		return TOOL_USAGE;
	if (ret->length <= 0 || ret->length > LONGEST)
		return tool_wrong(&trace_record, "--for %s: more than nothing, and at most an hour",
				  arguments->option[TOOL_OPT_FOR]);
	ret->ring = (uint32_t)ring;
	return TOOL_WELL;
}

static int say(const struct trace_take *how, struct trace_taken *taken)
{
	char length[32], clean[320], text[512];
	size_t i;

	printf("%s: %s of %s (process %d): %" PRIu64 " events, %" PRIu64 " lost, %" PRIu64
	       " fibers at the end\n",
	       ins_plain(how->path, text, sizeof text),
	       ins_words_duration(taken->length, length, sizeof length),
	       ins_words_clean(taken->name, clean, sizeof clean), taken->pid, taken->events,
	       taken->lost, taken->fibers);
	for (i = 0; i < ins_problems_lines(&taken->problems); i++)
		printf("problem: %s\n", ins_problems_text(&taken->problems, i, text, sizeof text));
	return tool_written(ins_problems_lines(&taken->problems) ? TOOL_PARTIAL : TOOL_WELL);
}

static int run(const struct tool_arguments *arguments)
{
	struct trace_taken taken;
	struct ins_error error = {""};
	struct trace_take how;
	char socket[PATH_MAX];
	int code = parse(arguments, &how);

	if (code == TOOL_WELL)
		code = find_socket(arguments->word[0], socket, sizeof socket);
	if (code != TOOL_WELL)
		return code;
	how.socket = socket;
	code = trace_take(&how, &taken, &error) < 0 ? tool_cannot("%s", error.text)
						    : say(&how, &taken);
	ins_problems_free(&taken.problems);
	return code;
}

const struct tool_command trace_record = {
	.name = "record",
	.usage = "PID -o FILE",
	.summary = "what the scheduler does, event by event",
	.help = "Switches on the flight recorder of a program with fibers, keeps what it notes in\n"
		"FILE, and switches it off again. Ctrl-C ends it early. 'report FILE' says where\n"
		"time went, 'export FILE --perfetto' makes a timeline. PID may be the path of a\n"
		"control socket. --ring: events that each carrier can note between two readings\n"
		"(default: 131072, 4 MiB); what does not fit is lost, and counted.\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_FOR) | TOOL_TAKES(TOOL_OPT_FORCE) |
		   TOOL_TAKES(TOOL_OPT_OUTPUT) | TOOL_TAKES(TOOL_OPT_RING),
	.run = run,
};
