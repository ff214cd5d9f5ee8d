/* SPDX-License-Identifier: MIT */
/* junit.c - outcomes as JUnit's XML: a suite with a case for each test */
#include <stdlib.h>

#include "format/format.h"
#include "format/words.h"
#include "text/escape.h"

static void begin(struct fib_document *d)
{
	d->elements = open_memstream(&d->text, &d->size);
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	fib_put_xml(out, value);
	fputc('"', out);
}

static void put_time(FILE *out, int64_t ns)
{
	fprintf(out, " time=\"%lld.%06lld\"", (long long)(ns / 1000000000),
		(long long)(ns % 1000000000 / 1000));
}

static void put_failure(FILE *out, const struct fib_found *f)
{
	fputs("<failure", out);
	put_attribute(out, "type", fiber_test_verdict_name(f->result.verdict));
	put_attribute(out, "message", f->result.message);
	fputc('>', out);
	fib_put_xml(out, f->report ? f->report : "");
	fputs("</failure>\n", out);
}

/* What has no report: not run to its end, or a place that was not reached. */
static void put_line(FILE *out, const struct fib_outcome *o)
{
	const char *element = o->error || o->signal ? "error" : "failure";
	char message[1100];

	fprintf(out, "<%s", element);
	put_attribute(out, "type", fib_outcome_word(o));
	put_attribute(out, "message", fib_outcome_message(o, message, sizeof message));
	fputc('>', out);
	if (o->running[0])
		fprintf(out, "FIBER_TEST_REPLAY=%s", o->running);
	fprintf(out, "</%s>\n", element);
}

static void outcome(struct fib_document *d, const struct fib_outcome *o)
{
	FILE *out = d->elements;
	unsigned i;

	if (!out)
		return;
	fputs("<testcase", out);
	put_attribute(out, "name", o->name);
	put_attribute(out, "classname", d->program);
	put_time(out, o->duration);
	fputs(">\n", out);
	for (i = 0; i < o->count; i++)
		put_failure(out, &o->found[i]);
	if (!o->count && fib_outcome_failed(o))
		put_line(out, o);
	fputs("</testcase>\n", out);
}

static void put_start(const struct fib_document *d, const char *element)
{
	fprintf(d->out, "<%s", element);
	put_attribute(d->out, "name", d->program);
	fprintf(d->out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", d->written, d->findings,
		d->errors);
	put_time(d->out, d->duration);
	fputs(">\n", d->out);
}

static void end(struct fib_document *d)
{
	if (!d->elements)
		return;
	fclose(d->elements);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", d->out);
	put_start(d, "testsuites");
	put_start(d, "testsuite");
	fputs(d->text, d->out);
	fputs("</testsuite>\n</testsuites>\n", d->out);
	free(d->text);
}

const struct fib_format fib_format_junit = {"junit", begin, outcome, end};
