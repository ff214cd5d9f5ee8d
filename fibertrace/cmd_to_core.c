/* SPDX-License-Identifier: MIT */
/*
 * cmd_to_core.c - fibertrace to-core: write a core for debuggers, with a thread for each fiber, or of
 * a program's threads alone
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fibertrace/fibertrace.h"
#include "fibertrace/to_core.h"
#include "inspect/render/render.h"
#include "inspect/text/atomic_file.h"
#include "inspect/text/duration.h"
#include "inspect/text/escape.h"
#include "inspect/threads/threads.h"
#include "tool/atomic_file.h"
#include "tool/report.h"

struct options {
	const char *core, *out; /* core: NULL for a process */
	bool force, json;
};

/* Set the error message for a failed conversion. */
static void explain(struct to_core *t, const struct options *o, int rc)
{
	if (rc == -ESRCH)
		ins_error_set(t->error, rc, "process %d: ended while it was read",
			      (int)t->source->pid);
	else if (rc == -EINVAL && o->core)
		ins_error_set(t->error, rc, "%s: its segments overlap: not a core of a program",
			      o->core);
	else if ((rc == -EFAULT || rc == -EIO) && o->core)
		ins_error_set(t->error, rc, "%s: cannot be read: %s", o->core, strerror(-rc));
	else
		ins_error_set(t->error, rc, "%s: cannot be written: %s", o->out, strerror(-rc));
}

/* Of a core without fibers. */
static void count_threads(struct to_core *t, int64_t took)
{
	t->summary.threads = true;
	t->summary.fiberless = !t->source->layout.record_size;
	t->summary.total = t->summary.shown = t->threads;
	t->summary.sampled_ns = strcmp(t->source->kind, "live") == 0 ? took : 0;
}

static int write_core(struct to_core *t, const struct options *o)
{
	const int64_t began = ins_duration_now();
	struct ins_atomic_file atomic_file;
	struct stat st;
	int rc = ins_atomic_file_begin(&atomic_file, o->out, o->force, t->error);

	if (rc < 0)
		return rc;
	t->fd = fileno(atomic_file.out);
	t->error->text[0] = 0;
	rc = o->core ? to_core_core(t, o->core) : to_core_live(t);
	if (rc < 0 && !t->error->text[0])
		explain(t, o, rc);
	if (fstat(t->fd, &st) == 0)
		t->disk = (uint64_t)st.st_blocks * 512;
	rc = ins_atomic_file_end(&atomic_file, rc, t->error);
	if (t->threads_only)
		count_threads(t, ins_duration_now() - began);
	if (rc == 0 && t->writer.left_out)
		ins_problems_add(
			&t->source->problems,
			"%" PRIu64
			" bytes are missing: they were mapped while the memory was copied, "
			"in too many pieces",
			t->writer.left_out);
	if (rc == 0 && t->fibers.lost)
		ins_problems_add(&t->source->problems, "the stacks of %" PRIu64 " fiber%s %s",
				 t->fibers.lost, t->fibers.lost == 1 ? "" : "s",
				 o->core ? "are not in the core: it is truncated, or gdb's gcore "
					   "made it, which stops at guard pages"
					 : "could not be read");
	return rc;
}

/*
 * Print what the file does not show: fibers whose thread number is not their id, and running
 * fibers.
 */
static void put_exceptions(const struct to_core *t)
{
	size_t i;

	for (i = 0; i < t->fibers.count; i++) {
		const struct ins_core_fiber *one = &t->fibers.at[i];

		if (one->thread >= INS_CORE_FIBER_LARGE)
			printf("fiber %" PRIu64 " is thread %d\n", one->id, (int)one->thread);
		else if (one->runs && one->carrier)
			printf("fiber %" PRIu64 " runs on thread %d\n", one->id, (int)one->carrier);
		else if (one->runs)
			printf("fiber %" PRIu64 " runs on an unknown thread\n", one->id);
	}
}

static void put_text(const struct to_core *t, const struct options *o)
{
	char file[PATH_MAX], name[sizeof t->source->name * 4];

	printf("%s: %" PRIu64 " bytes, %" PRIu64 " of them on disk: %s, process %d\n",
	       ins_escape(o->out, file, sizeof file), t->writer.end, t->disk,
	       ins_escape(t->source->name, name, sizeof name), (int)t->source->pid);
	if (!t->threads_only)
		printf("%" PRIu64 " %s: fiber N is thread %d+N; %" PRIu64 " plain thread%s\n",
		       t->fibers.threads,
		       t->fibers.threads == 1 ? "fiber is a thread" : "fibers are threads",
		       INS_CORE_FIBER_FIRST, t->threads, t->threads == 1 ? "" : "s");
	put_exceptions(t);
	if (t->fibers.ended)
		printf("%" PRIu64 " %s\n", t->fibers.ended,
		       t->fibers.ended == 1 ? "fiber has exited and has no thread"
					    : "fibers have exited and have no threads");
	ins_text_end(stdout, &t->summary, &t->source->problems);
}

static json_t *exceptions(const struct to_core *t, bool running)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < t->fibers.count; i++) {
		const struct ins_core_fiber *one = &t->fibers.at[i];

		if (running ? one->runs : one->thread >= INS_CORE_FIBER_LARGE)
			json_array_append_new(
				list, json_pack("{s:I, s:o}", "id", (json_int_t)one->id, "thread",
						running && !one->carrier
							? json_null()
							: json_integer(running ? one->carrier
									       : one->thread)));
	}
	return list;
}

static void put_json(const struct to_core *t, const struct options *o)
{
	struct ins_json json;

	ins_json_begin(&json, stdout, t->source->pid, t->source->name, t->source->kind, NULL);
	ins_json_key(&json, "core",
		     json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:i, s:o, s:o}", "file",
			       ins_json_text(o->out), "bytes", (json_int_t)t->writer.end,
			       "diskBytes", (json_int_t)t->disk, "fiberThreads",
			       (json_int_t)t->fibers.threads, "plainThreads",
			       (json_int_t)t->threads, "ended", (json_int_t)t->fibers.ended,
			       "firstFiberThread", INS_CORE_FIBER_FIRST, "numbered",
			       exceptions(t, false), "running", exceptions(t, true)));
	ins_json_end(&json, &t->summary, &t->source->problems);
}

static int answer(struct to_core *t, const struct options *o)
{
	tool_atomic_file_guard();
	t->threads_only = ins_threads_shown(t->source);
	if (!t->threads_only && t->source->layout.recipe != FIB_RECIPE_CFI &&
	    t->source->layout.recipe != FIB_RECIPE_SAVED)
		return tool_cannot(
			"the stacks of its port \"%s\" cannot be walked yet: its fibers would be "
			"threads without frames",
			t->source->layout.port);
	if (write_core(t, o) < 0)
		return tool_cannot("%s", t->error->text);
	if (o->json)
		put_json(t, o);
	else
		put_text(t, o);
	return tool_written(ins_problems_lines(&t->source->problems) ? TOOL_PARTIAL : TOOL_WELL);
}

static int run(const struct tool_arguments *arguments)
{
	struct ins_error error = {""};
	struct to_core t = {.stacks_only = arguments->option[TOOL_OPT_STACKS_ONLY] != NULL,
			    .error = &error};
	struct options o = {.out = arguments->option[TOOL_OPT_OUTPUT],
			    .force = arguments->option[TOOL_OPT_FORCE] != NULL,
			    .json = arguments->json};
	struct tool_arguments given = *arguments;
	int code;

	if (!o.out || !o.out[0])
		return tool_wrong(&trace_to_core, "to-core: needs -o OUT");
	if (given.words == 2 && !given.option[TOOL_OPT_CORE])
		return tool_wrong(&trace_to_core, "%s: one process at a time", given.word[1]);
	if (given.words == 2)
		given.option[TOOL_OPT_EXE] = given.word[1];
	code = tool->open(&given, given.word[0], &t.source);
	if (code != TOOL_WELL)
		return code;
	if (strcmp(t.source->kind, "core") == 0)
		o.core = given.word[0];
	if (strcmp(t.source->kind, "snapshot") == 0)
		code = tool_cannot("%s: is a snapshot: it has stacks, but not the memory that a "
				   "core needs",
				   given.word[0]);
	else
		code = answer(&t, &o);
	to_core_free(&t);
	ins_source_close(t.source);
	return code;
}

const struct tool_command trace_to_core = {
	.name = "to-core",
	.usage = "PROCESS -o OUT",
	.summary = "a core file in which each fiber is a thread",
	.help = "Writes a core file in which every fiber that does not run is a thread, for gdb,\n"
		"lldb, eu-stack and other readers of cores. Fiber N is thread (LWP) 1000000000+N.\n"
		"With --threads, and of a program without fibers, only its threads are written.\n"
		"Only the owner of the file can read it.\n"
		"--stacks-only leaves out files that the program does not write to: code and\n"
		"constants, which a debugger reads from those files.\n",
	.example = "to-core httpd -o httpd.core\n"
		   "httpd.core: 73085704 bytes, 2904064 of them on disk: httpd, process 15573\n"
		   "5 fibers are threads: fiber N is thread 1000000000+N; 4 plain threads\n"
		   "shown 5 of 5 fibers, sampled over 1ms\n",
	.least = 1,
	.most = 2,
	.options = TOOL_TAKES(TOOL_OPT_FORCE) | TOOL_TAKES(TOOL_OPT_OUTPUT) |
		   TOOL_TAKES(TOOL_OPT_STACKS_ONLY),
	.threads = true,
	.run = run,
};
