/* SPDX-License-Identifier: MIT */
/*
 * tap.c - outcomes as TAP version 14, with diagnostics as YAML
 *
 * Strings are written as JSON, which is YAML.
 */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "format/format.h"
#include "format/words.h"
#include "text/escape.h"

static void begin(struct fib_document *d)
{
	fprintf(d->out, "TAP version 14\n1..%zu\n", d->tests);
	fflush(d->out);
}

/* In a description a # would start a directive. */
static void put_description(FILE *out, const char *name)
{
	char one[2] = "";

	for (; *name; name++) {
		one[0] = *name;
		if (*name == '#' || *name == '\\')
			fputc('\\', out);
		fib_put_plain(out, one);
	}
}

static void put_string(FILE *out, const char *key, const char *text)
{
	fprintf(out, "  %s: ", key);
	fib_put_json(out, text);
	fputc('\n', out);
}

static void put_found(FILE *out, const struct fib_found *f)
{
	const struct fiber_test_result *r = &f->result;

	put_string(out, "token", r->token);
	put_string(out, "strategy", f->strategy);
	fprintf(out, "  failedSchedule: %" PRIu64 "\n  choices: %u\n  deviations: %u\n", r->failed,
		r->choices, r->deviations);
	if (r->file[0]) {
		put_string(out, "file", r->file);
		fprintf(out, "  line: %d\n", r->line);
	}
	if (f->report) {
		fputs("  report: |\n", out);
		fib_put_lines(out, f->report, "    ");
	}
}

static void put_others(FILE *out, const struct fib_outcome *o)
{
	unsigned i;

	if (o->count > 1)
		fputs("  otherFindings:\n", out);
	for (i = 1; i < o->count; i++) {
		fprintf(out, "    - verdict: %s\n      message: ",
			fiber_test_verdict_name(o->found[i].result.verdict));
		fib_put_json(out, o->found[i].result.message);
		fputs("\n      token: ", out);
		fib_put_json(out, o->found[i].result.token);
		fputc('\n', out);
	}
}

static void outcome(struct fib_document *d, const struct fib_outcome *o)
{
	char message[1100];

	fprintf(d->out, "%sok %zu - ", fib_outcome_failed(o) ? "not " : "", d->written);
	put_description(d->out, o->name);
	fprintf(d->out, "\n  ---\n  verdict: %s\n", fib_outcome_word(o));
	if (fib_outcome_failed(o))
		put_string(d->out, "message", fib_outcome_message(o, message, sizeof message));
	fprintf(d->out,
		"  schedules: %" PRIu64 "\n  seed: %" PRIu64 "\n  durationMs: %" PRId64 "\n",
		o->result.schedules, o->seed, o->duration / 1000000);
	if (o->count)
		put_found(d->out, &o->found[0]);
	put_others(d->out, o);
	if (o->running[0])
		put_string(d->out, "running", o->running);
	fputs("  ...\n", d->out);
	fflush(d->out);
}

static void end(struct fib_document *d)
{
	if (d->signal)
		fprintf(d->out, "Bail out! %s\n", d->signal == SIGINT ? "SIGINT" : "SIGTERM");
}

const struct fib_format fib_format_tap = {"tap", begin, outcome, end};
