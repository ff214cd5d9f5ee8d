/* SPDX-License-Identifier: MIT */
/*
 * cmd_audit.c - what was changed in a running program from outside, when and by whom
 *
 * The program keeps the last entries and counts the rest. They come from a program that may be broken, so every size is
 * compared with the frame before it is used.
 */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/reply.h"
#include "inspect/render.h"

struct answer {
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
	if (a->head.entry_size < sizeof *a->entries ||
	    (length - sizeof a->head) / a->head.entry_size < a->head.count)
		return -EPROTO;
	a->entries = calloc(a->head.count + 1, sizeof *a->entries);
	if (!a->entries)
		return -ENOMEM;
	for (i = 0; i < a->head.count; i++)
		memcpy(&a->entries[i], at + (size_t)i * a->head.entry_size, sizeof *a->entries);
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
	else if (what == FIB_WIRE_AUDIT_THRESHOLD && v <= INT64_MAX)
		ins_words_duration((int64_t)v, buf, size);
	else
		snprintf(buf, size, "%" PRIu64, v);
	return buf;
}

static const char *change(const struct fib_wire_audit_entry *e, char *buf, size_t size)
{
	char before[32], after[32];

	if (e->fiber)
		snprintf(buf, size, "fiber %" PRIu64, e->fiber);
	else
		snprintf(buf, size, "%s -> %s", value(e->what, e->before, before, sizeof before),
			 value(e->what, e->after, after, sizeof after));
	return buf;
}

static void put_line(const struct fib_wire_audit_entry *e)
{
	const time_t seconds = (time_t)(e->wall / 1000000000);
	const struct passwd *pw = getpwuid(e->uid);
	char when[32] = "?", who[32], what[96];
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(who, sizeof who, "%u", (unsigned)e->uid);
	printf("%-19s %9d %-12s %-10s %-24s %s%s\n", when, (int)e->pid, pw ? pw->pw_name : who,
	       what_name(e->what), change(e, what, sizeof what),
	       e->result < 0 ? "refused: " : "done",
	       e->result < 0 && e->result > -4096 ? strerror(-e->result) : "");
}

static void put_text(const struct answer *a)
{
	uint32_t i;

	printf("%-19s %9s %-12s %-10s %-24s %s\n", "WHEN", "PID", "USER", "WHAT", "CHANGE",
	       "RESULT");
	for (i = 0; i < a->head.count; i++)
		put_line(&a->entries[i]);
	printf("shown %u of %" PRIu64 " changes\n", a->head.count, a->head.total);
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
	return json_pack("{s:I, s:I, s:I, s:i, s:I, s:s, s:o, s:o, s:o, s:b, s:o}", "serial",
			 (json_int_t)e->serial, "whenNs", (json_int_t)e->when, "wallNs",
			 (json_int_t)e->wall, "pid", (int)e->pid, "uid", (json_int_t)e->uid, "what",
			 what_name(e->what), "fiberId",
			 acts ? json_integer((json_int_t)e->fiber) : json_null(), "before", before,
			 "after", after, "done", !refused, "error",
			 text_or_null(refused && e->result > -4096, strerror(-e->result)));
}

static void put_json(const struct fib_wire_process *process, const struct answer *a)
{
	const struct ins_summary summary = {.total = a->head.total, .shown = a->head.count};
	const struct ins_problems problems = {0};
	struct ins_json json;
	uint32_t i;

	ins_json_begin(&json, stdout, process->pid, process->name, "control", "audit");
	for (i = 0; i < a->head.count; i++)
		ins_json_row(&json, row(&a->entries[i]));
	ins_json_end(&json, &summary, &problems);
}

static int run(const struct ctl_arguments *arguments)
{
	struct answer a = {.entries = NULL};
	struct ctl_reply reply;
	int code = ctl_reply_open_process(&reply, arguments->word[0]);

	if (code != CTL_WELL)
		return code;
	code = ctl_reply_ask(&reply, FIB_WIRE_AUDIT, NULL, 0, FIB_WIRE_AUDITED, take, &a);
	if (code == CTL_WELL) {
		if (arguments->json)
			put_json(&reply.process, &a);
		else
			put_text(&a);
		code = ctl_written(CTL_WELL);
	}
	free(a.entries);
	ctl_reply_close(&reply);
	return code;
}

const struct ctl_command ctl_audit = {
	.name = "audit",
	.usage = "PROCESS",
	.summary = "what was changed from outside, and by whom",
	.help = "A line for each change of a setting, cancellation and wake-up that was asked for\n"
		"over the control socket, the oldest first: when, the process id and user of who\n"
		"asked, as the kernel says, what, the value before and after or the fiber, and\n"
		"whether it was done or refused. The program keeps the last 128 and counts the\n"
		"rest.\n",
	.least = 1,
	.most = 1,
	.run = run,
};
