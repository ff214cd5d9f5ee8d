/* SPDX-License-Identifier: MIT */
/* json.c - outcomes as one JSON object; docs/schema/test.json describes it */
#include <inttypes.h>
#include <stdbool.h>

#include "format/format.h"
#include "format/words.h"
#include "text/escape.h"

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

	fib_put_text_member(out, "file", r->file);
	fib_put_number_member(out, "line", (uint64_t)r->line, r->file[0] != 0);
	fib_put_text_member(out, "token", r->token);
	fib_put_number_member(out, "failedSchedule", r->failed, found);
	fib_put_number_member(out, "choices", r->choices, true);
	fib_put_number_member(out, "deviations", r->deviations, found);
	fib_put_number_member(out, "deviationsBefore", found ? f->before : 0, found);
	fib_put_number_member(out, "times", found ? f->times : 0, true);
	fib_put_text_member(out, "report", found ? f->report : NULL);
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
		fib_put_text_member(out, "message", o->found[i].result.message);
		fib_put_text_member(out, "strategy", o->found[i].strategy);
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
	fib_put_text_member(d->out, "verdict", judged ? fib_outcome_word(o) : NULL);
	fib_put_text_member(d->out, "message", fib_outcome_message(o, message, sizeof message));
	fib_put_text_member(d->out, "strategy", o->count ? o->found[0].strategy : o->strategy);
	fib_put_number_member(d->out, "seed", o->seed, true);
	fib_put_number_member(d->out, "schedules", o->result.schedules, true);
	fib_put_number_member(d->out, "dropped", o->dropped, true);
	fib_put_number_member(d->out, "durationNs", (uint64_t)o->duration, true);
	fib_put_text_member(d->out, "running", o->running);
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
