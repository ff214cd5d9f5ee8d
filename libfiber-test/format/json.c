/* SPDX-License-Identifier: MIT */
/* json.c - outcomes as one JSON object; docs/schema/test.json describes it */
#include <inttypes.h>
#include <stdbool.h>

#include "format/format.h"
#include "format/words.h"
#include "text/escape.h"

static void put_string(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\"%s\":", key);
	fib_put_json(out, text && text[0] ? text : NULL);
	fputc(',', out);
}

static void put_number(FILE *out, const char *key, uint64_t number, bool known)
{
	if (known)
		fprintf(out, "\"%s\":%" PRIu64 ",", key, number);
	else
		fprintf(out, "\"%s\":null,", key);
}

static void begin(struct fib_document *d)
{
	fputs("{\"schemaVersion\":1,\"program\":", d->out);
	fib_put_json(d->out, d->program);
	fputs(",\n\"tests\":[", d->out);
}

/* The members of a finding; without one they are null or empty. */
static void put_finding(FILE *out, const struct fib_found *f, const struct fiber_test_result *r)
{
	const bool found = f != NULL;

	put_string(out, "file", r->file);
	put_number(out, "line", (uint64_t)r->line, r->file[0] != 0);
	put_string(out, "token", r->token);
	put_number(out, "failedSchedule", r->failed, found);
	put_number(out, "choices", r->choices, true);
	put_number(out, "deviations", r->deviations, found);
	put_number(out, "deviationsBefore", found ? f->before : 0, found);
	put_number(out, "times", found ? f->times : 0, true);
	put_string(out, "report", found ? f->report : NULL);
	fputs(found && f->details ? f->details : "\"fibers\":[],\"deadlocks\":[],\"trace\":[]",
	      out);
}

static void put_missed(FILE *out, const struct fib_outcome *o)
{
	const char *comma = "", *missed;
	unsigned at = 0;

	fputs("\"neverReached\":[", out);
	while ((missed = fib_outcome_missed(o, &at))) {
		fputs(comma, out);
		fib_put_json(out, missed);
		comma = ",";
	}
	fputs("],", out);
}

static void put_others(FILE *out, const struct fib_outcome *o)
{
	unsigned i;

	fputs(",\n\"otherFindings\":[", out);
	for (i = 1; i < o->count; i++) {
		fprintf(out, "%s{\"verdict\":\"%s\",", i > 1 ? ",\n" : "\n",
			fiber_test_verdict_name(o->found[i].result.verdict));
		put_string(out, "message", o->found[i].result.message);
		put_string(out, "strategy", o->found[i].strategy);
		put_finding(out, &o->found[i], &o->found[i].result);
		fputc('}', out);
	}
	fputc(']', out);
}

static void outcome(struct fib_document *d, const struct fib_outcome *o)
{
	const bool judged = o->count || (!o->error && !o->signal);
	char message[1100];

	fputs(d->written > 1 ? ",\n{\"name\":" : "\n{\"name\":", d->out);
	fib_put_json(d->out, o->name);
	fputc(',', d->out);
	put_string(d->out, "verdict", judged ? fib_outcome_word(o) : NULL);
	put_string(d->out, "message", fib_outcome_message(o, message, sizeof message));
	put_string(d->out, "strategy", o->count ? o->found[0].strategy : o->strategy);
	put_number(d->out, "seed", o->seed, true);
	put_number(d->out, "schedules", o->result.schedules, true);
	put_number(d->out, "durationNs", (uint64_t)o->duration, true);
	put_string(d->out, "running", o->running);
	put_missed(d->out, o);
	put_finding(d->out, o->count ? &o->found[0] : NULL, &o->result);
	put_others(d->out, o);
	fputc('}', d->out);
}

static void end(struct fib_document *d)
{
	fprintf(d->out, "],\n\"seed\":%" PRIu64 ",\"durationNs\":%" PRId64 ",\"complete\":%s}\n",
		d->seed, d->duration,
		d->written == d->tests && !d->errors && !d->signal ? "true" : "false");
}

const struct fib_format fib_format_json = {"json", begin, outcome, end};
