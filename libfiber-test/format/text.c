/* SPDX-License-Identifier: MIT */
/* text.c - outcomes for people: a line, or the report */
#include "format/format.h"
#include "format/words.h"
#include "text/escape.h"

static void begin(struct fib_document *d)
{
	(void)d;
}

/* "fiber-test: NAME: " */
static void put_start(FILE *out, const struct fib_outcome *o)
{
	fputs("fiber-test: ", out);
	fib_put_plain(out, o->name);
	fputs(": ", out);
}

static void put_line(FILE *out, const struct fib_outcome *o)
{
	char message[1100];

	put_start(out, o);
	if (o->result.verdict != FIBER_TEST_PASSED && !o->error && !o->signal)
		fprintf(out, "%s: ", fib_outcome_word(o));
	fib_put_plain(out, fib_outcome_message(o, message, sizeof message));
	fputc('\n', out);
}

static void outcome(struct fib_document *d, const struct fib_outcome *o)
{
	const unsigned long long n = o->result.schedules, dropped = o->dropped;
	unsigned i;

	for (i = 0; i < o->count; i++) {
		fputs(i ? "\n" : "", d->out);
		fputs(o->found[i].report ? o->found[i].report : "", d->out);
	}
	if (o->count > 1) {
		put_start(d->out, o);
		fprintf(d->out, "%u distinct findings\n", o->count);
	}
	if (!o->count && fib_outcome_failed(o)) {
		put_line(d->out, o);
	} else if (!o->count) {
		put_start(d->out, o);
		if (o->result.verdict == FIBER_TEST_COMPLETE)
			fprintf(d->out, "complete: all %llu schedules", n);
		else
			fprintf(d->out, "passed: %llu schedules", n);
		if (dropped)
			fprintf(d->out, ", and %llu dropped", dropped);
		fputc('\n', d->out);
	}
	if (o->signal && o->running[0])
		fprintf(d->out, "fiber-test: the schedule that ran: FIBER_TEST_REPLAY=%s\n",
			o->running);
	fflush(d->out);
}

static void end(struct fib_document *d)
{
	(void)d;
}

const struct fib_format fib_format_text = {"text", begin, outcome, end};
