/* SPDX-License-Identifier: MIT */
/*
 * cmd_audit.c - print what was changed in a running program from outside, when and by whom
 *
 * The program keeps the last entries and counts the others. The program may be broken, so every
 * size is compared with the frame before use.
 *
 * Following means to request all entries a few times a second: at most 8 KB.
 */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fiberctl/entry_names.h"
#include "fiberctl/fiberctl.h"
#include "fiberctl/policy.h"
#include "fiberctl/reply.h"
#include "inspect/render/render.h"
#include "inspect/text/duration.h"
#include "inspect/text/json_put.h"
#include "tool/frames.h"
#include "tool/report.h"

struct answer {
	struct ctl_entry_names names;
	struct fib_wire_audited head;
	struct fib_wire_audit_entry *entries;
};

static int take(void *context, const void *payload, size_t length)
{
	struct answer *a = context;
	const char *at = (const char *)payload + sizeof a->head;
	uint32_t i;

	if (length < sizeof a->head)
		return -EPROTO;
	memcpy(&a->head, payload, sizeof a->head);
	free(a->entries);
	a->entries = NULL;
	if (a->head.entry_size < offsetof(struct fib_wire_audit_entry, entry) ||
	    (length - sizeof a->head) / a->head.entry_size < a->head.count)
		return -EPROTO;
	a->entries = calloc(a->head.count + 1, sizeof *a->entries);
	if (!a->entries)
		return -ENOMEM;
	for (i = 0; i < a->head.count; i++) {
		struct fib_wire_audit_entry *e = &a->entries[i];

		tool_frames_copy(e, sizeof *e, at + (size_t)i * a->head.entry_size,
				 a->head.entry_size);
		e->name[sizeof e->name - 1] = 0;
	}
	return 0;
}

static const char *what_name(uint32_t what)
{
	switch (what) {
	case FIB_WIRE_AUDIT_POLICY:
		return "policy";
	case FIB_WIRE_AUDIT_THRESHOLD:
		return "threshold";
	case FIB_WIRE_AUDIT_CANCEL:
		return "cancel";
	case FIB_WIRE_AUDIT_RECORD:
		return "record";
	case FIB_WIRE_AUDIT_PROFILE:
		return "profile";
	case FIB_WIRE_AUDIT_WAKE:
		return "wake";
	default:
		return "unknown";
	}
}

/* A setting's value in words. Returns buf. */
static const char *value(uint32_t what, uint64_t v, char *buf, size_t size)
{
	if (what == FIB_WIRE_AUDIT_POLICY)
		snprintf(buf, size, "%s", ctl_policy_name((unsigned)v));
	else if (what == FIB_WIRE_AUDIT_THRESHOLD && !v)
		snprintf(buf, size, "off");
	else if (what == FIB_WIRE_AUDIT_THRESHOLD && v <= INT64_MAX)
		ins_duration_text((int64_t)v, buf, size);
	else
		snprintf(buf, size, "%" PRIu64, v);
	return buf;
}

static const char *change(struct ctl_entry_names *names, const struct fib_wire_audit_entry *e,
			  char *buf, size_t size)
{
	char before[32], after[32], name[sizeof e->name * 4];

	if (e->fiber && *ctl_entry_name(names, e->name, e->entry, name, sizeof name))
		snprintf(buf, size, "fiber %" PRIu64 " \"%s\"", e->fiber, name);
	else if (e->fiber)
		snprintf(buf, size, "fiber %" PRIu64, e->fiber);
	else
		snprintf(buf, size, "%s -> %s", value(e->what, e->before, before, sizeof before),
			 value(e->what, e->after, after, sizeof after));
	return buf;
}

/*
 * Why it was refused. The program keeps an errno, whose meaning differs for fibers and files. NULL:
 * it was done.
 */
static const char *why(const struct fib_wire_audit_entry *e)
{
	const bool acts = e->what == FIB_WIRE_AUDIT_CANCEL || e->what == FIB_WIRE_AUDIT_WAKE;

	switch (e->result < 0 ? -e->result : 0) {
	case 0:
		return NULL;
	case ESRCH:
		return acts ? "no such fiber: it has exited or never existed" : "no runtime to ask";
	case EPERM:
		return acts ? "not allowed: it was started without FIBER_CONTROL=admin"
			    : "not allowed: it was started with FIBER_CONTROL=ro";
	case EINVAL:
		if (e->what == FIB_WIRE_AUDIT_WAKE)
			return "it did not wait in fiber_park";
		return acts ? "no such action" : "no such value";
	case EBUSY:
		return "another recording is in progress";
	default:
		return e->result > -4096 ? strerror(-e->result) : "for an unknown reason";
	}
}

static void put_line(struct ctl_entry_names *names, const struct fib_wire_audit_entry *e)
{
	const time_t seconds = (time_t)(e->wall / 1000000000);
	const struct passwd *pw = getpwuid(e->uid);
	char when[32] = "?", who[32], what[192];
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(who, sizeof who, "%u", (unsigned)e->uid);
	printf("%-19s %9d %-12s %-10s %-24s %s%s\n", when, (int)e->pid, pw ? pw->pw_name : who,
	       what_name(e->what), change(names, e, what, sizeof what),
	       e->result < 0 ? "refused: " : "done", e->result < 0 ? why(e) : "");
}

static void put_title(void)
{
	printf("%-19s %9s %-12s %-10s %-24s %s\n", "WHEN", "PID", "USER", "WHAT", "CHANGE",
	       "RESULT");
}

static void put_text(const struct ctl_reply *reply, struct answer *a)
{
	char taken[512];
	uint32_t i;

	put_title();
	for (i = 0; i < a->head.count; i++)
		put_line(&a->names, &a->entries[i]);
	printf("shown %u of %" PRIu64 " change%s\n", a->head.count, a->head.total,
	       a->head.total == 1 ? "" : "s");
	if (reply->snapshot)
		puts(ins_words_taken(&reply->summary, taken, sizeof taken));
}

static json_t *text_or_null(bool there, const char *text)
{
	return there ? json_string(text) : json_null();
}

static json_t *row(const struct fib_wire_audit_entry *e)
{
	const bool refused = e->result < 0, acts = e->fiber != 0;
	json_t *before = json_null(), *after = json_null();

	if (!acts && e->what == FIB_WIRE_AUDIT_POLICY) {
		before = json_string(ctl_policy_name((unsigned)e->before));
		after = json_string(ctl_policy_name((unsigned)e->after));
	} else if (!acts) {
		before = json_integer((json_int_t)e->before);
		after = json_integer((json_int_t)e->after);
	}
	return json_pack(
		"{s:I, s:I, s:I, s:i, s:I, s:s, s:o, s:o, s:o, s:o, s:b, s:o, s:s?}", "serial",
		(json_int_t)e->serial, "whenNs", (json_int_t)e->when, "wallNs", (json_int_t)e->wall,
		"pid", (int)e->pid, "uid", (json_int_t)e->uid, "what", what_name(e->what),
		"fiberId", acts ? json_integer((json_int_t)e->fiber) : json_null(),
		/* Null: it was not found, or the program is too old to send it. */
		"fiberName", acts && e->entry ? ins_json_text(e->name) : json_null(), "before",
		before, "after", after, "done", !refused, "error",
		text_or_null(refused && e->result > -4096, strerror(-e->result)), "why", why(e));
}

static void put_json(const struct ctl_reply *reply, const struct answer *a)
{
	const struct fib_wire_process *process = &reply->process;
	struct ins_summary summary = reply->summary;
	const struct ins_problems problems = {0};
	struct ins_json json;
	uint32_t i;

	summary.total = a->head.total;
	summary.shown = a->head.count;
	ins_json_begin(&json, stdout, process->pid, process->name, reply->source, "audit");
	for (i = 0; i < a->head.count; i++)
		ins_json_row(&json, row(&a->entries[i]));
	ins_json_end(&json, &summary, &problems);
}

/* Print the new entries; *last is the highest serial seen. */
static void put_new(struct answer *a, bool json, uint64_t *last)
{
	uint32_t i;

	for (i = 0; i < a->head.count; i++) {
		const struct fib_wire_audit_entry *e = &a->entries[i];

		if (e->serial <= *last)
			continue;
		if (!json && e->serial > *last + 1)
			printf("... %" PRIu64 " more, not kept any more\n", e->serial - *last - 1);
		*last = e->serial;
		if (json) {
			json_t *object = row(e);

			ins_json_put(stdout, object);
			putchar('\n');
			json_decref(object);
		} else {
			put_line(&a->names, e);
		}
	}
}

static int ask(struct ctl_reply *reply, struct answer *a)
{
	return ctl_reply_ask(reply, FIB_WIRE_AUDIT, NULL, 0, FIB_WIRE_AUDITED, take, a);
}

/* Runs until the process ends or the output is closed. */
static int follow(struct ctl_reply *reply, struct answer *a, bool json)
{
	static const struct timespec pause = {.tv_nsec = 200000000};
	uint64_t last = 0;
	int code;

	if (!json)
		put_title();
	for (;;) {
		code = ask(reply, a);
		if (code != TOOL_WELL)
			return code;
		put_new(a, json, &last);
		code = tool_written(TOOL_WELL);
		if (code != TOOL_WELL)
			return code;
		nanosleep(&pause, NULL);
	}
}

static int once(struct ctl_reply *reply, struct answer *a, bool json)
{
	const int code = ask(reply, a);

	if (code != TOOL_WELL)
		return code;
	if (json)
		put_json(reply, a);
	else
		put_text(reply, a);
	return tool_written(TOOL_WELL);
}

static int run(const struct tool_arguments *arguments)
{
	struct answer a = {.names.who = arguments->word[0]};
	struct ctl_reply reply;
	int code = ctl_reply_open(&reply, arguments->word[0]);

	if (code != TOOL_WELL)
		return code;
	if (!arguments->option[TOOL_OPT_FOLLOW])
		code = once(&reply, &a, arguments->json);
	else if (reply.snapshot)
		code = tool_process_still(arguments->word[0]);
	else
		code = follow(&reply, &a, arguments->json);
	free(a.entries);
	ctl_entry_names_close(&a.names);
	ctl_reply_close(&reply);
	return code;
}

const struct tool_command ctl_audit = {
	.name = "audit",
	.usage = "PROCESS",
	.summary = "what was changed from outside, and by whom",
	.help = "One line for each change of a setting, cancellation and wake-up that was\n"
		"requested over the control socket, the oldest first: when, the process id and\n"
		"user of the requester (as reported by the kernel), what, the value before and\n"
		"after or the fiber, and whether it was done or refused. The program keeps the\n"
		"last 128 and counts the older ones; its other records do not displace them.\n"
		"--follow continues with new changes.\n",
	.example =
		"audit labels\n"
		"WHEN                      PID USER         WHAT       CHANGE\n"
		"2026-11-26 03:41:00     15814 root         cancel     fiber 3 \"worker-2\"  ...\n"
		"shown 1 of 1 change\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_FOLLOW),
	.run = run,
};
