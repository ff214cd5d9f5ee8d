/* SPDX-License-Identifier: MIT */
/* prom.c - a strict reader of the text format of Prometheus */
#include "tests/harness/cli/prom.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/cli.h"

#define NAME 128

struct family {
	char name[NAME], type[16];
	bool begun; /* a sample was read */
};

/* The histogram that is being read. */
struct buckets {
	char labels[512]; /* labels without le */
	double bound, count;
	bool open, has_sum;
};

struct reader {
	struct family family;
	struct buckets buckets;
	void *names, *series; /* names and series read so far: tsearch(3) */
	const char *line;
	char *fault;
	jmp_buf out;
};

static void insist(struct reader *r, bool holds, const char *rule)
{
	if (holds)
		return;
	snprintf(r->fault, PROM_FAULT, "%s: %.200s", rule, r->line);
	longjmp(r->out, 1);
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Add text to the set. Returns whether it is new. */
static bool is_new(void **set, const char *text)
{
	char *copy = strdup(text);

	if (*(char **)tsearch(copy, set, compare) == copy)
		return true;
	free(copy);
	return false;
}

static size_t name_length(const char *at, bool colon)
{
	size_t n = 0;

	if (isdigit((unsigned char)at[0]))
		return 0;
	while (islower((unsigned char)at[n]) || isdigit((unsigned char)at[n]) || at[n] == '_' ||
	       (colon && at[n] == ':'))
		n++;
	return n;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

static void close_family(struct reader *r)
{
	insist(r, !r->buckets.open, "a histogram has all of its samples");
	insist(r, !r->family.name[0] || r->family.type[0], "HELP is followed by TYPE");
}

/* Read a comment, after "# ". */
static void read_comment(struct reader *r, const char *at)
{
	const bool help = strncmp(at, "HELP ", 5) == 0;
	char name[NAME];
	size_t n;

	insist(r, help || strncmp(at, "TYPE ", 5) == 0, "a comment is HELP or TYPE");
	at += 5;
	n = name_length(at, true);
	insist(r, n && n < sizeof name && at[n] == ' ' && at[n + 1], "a name and a text");
	snprintf(name, sizeof name, "%.*s", (int)n, at);
	if (help) {
		close_family(r);
		insist(r, is_new(&r->names, name), "a family begins once");
		r->family = (struct family){.begun = false};
		strcpy(r->family.name, name);
		return;
	}
	insist(r, !strcmp(name, r->family.name) && !r->family.type[0], "TYPE follows its HELP");
	snprintf(r->family.type, sizeof r->family.type, "%s", at + n + 1);
	at = r->family.type;
	insist(r, !strcmp(at, "counter") || !strcmp(at, "gauge") || !strcmp(at, "histogram"),
	       "a known type");
	insist(r, ends_with(name, "_total") == !strcmp(at, "counter"), "counters end in _total");
}

/* Whether n bytes are valid UTF-8. */
static bool is_text(const char *at, size_t n)
{
	json_t *string = json_stringn(at, n);
	const bool is = string != NULL;

	json_decref(string);
	return is;
}

/* Read a label at *at and move past it. The value of `le` goes to bound, other labels are appended
 * to rest. */
static void read_label(struct reader *r, const char **at, double *bound, char *rest, size_t size)
{
	const char *name = *at, *value;
	size_t n = name_length(name, false), used = strlen(rest);

	insist(r, n && name[n] == '=' && name[n + 1] == '"', "a label is name=\"value\"");
	value = *at = name + n + 2;
	while (**at && **at != '"') {
		insist(r, (unsigned char)**at >= ' ', "a label's value has no control characters");
		insist(r, **at != '\\' || ((*at)[1] && strchr("\\\"n", (*at)[1])),
		       "\\ escapes \\, \" or n");
		*at += **at == '\\' ? 2 : 1;
	}
	insist(r, **at == '"' && is_text(value, (size_t)(*at - value)), "a value is text and ends");
	if (n == 2 && !strncmp(name, "le", 2))
		*bound = strncmp(value, "+Inf\"", 5) ? strtod(value, NULL) : INFINITY;
	else
		snprintf(rest + used, size - used, "%.*s;", (int)(*at - name), name);
	++*at;
	insist(r, **at == ',' || **at == '}', "labels have commas between");
}

static void read_bucket(struct reader *r, const char *suffix, const char *labels, double bound,
			double value)
{
	struct buckets *b = &r->buckets;

	if (!strcmp(suffix, "_bucket")) {
		insist(r, !isnan(bound), "a bucket has its bound");
		if (!b->open)
			*b = (struct buckets){.open = true, .bound = -1};
		if (b->bound < 0)
			snprintf(b->labels, sizeof b->labels, "%s", labels);
		insist(r, bound > b->bound && value >= b->count, "buckets add up in order");
		b->bound = bound;
		b->count = value;
	} else if (!strcmp(suffix, "_sum")) {
		insist(r, b->open && isinf(b->bound), "the last bucket is +Inf");
		b->has_sum = true;
	} else {
		insist(r, !strcmp(suffix, "_count") && b->has_sum, "a sum, then a count");
		insist(r, value == b->count, "the count is that of the last bucket");
		b->open = false;
	}
	insist(r, !strcmp(b->labels, labels), "one histogram after the other");
}

static void read_sample(struct reader *r, const char *at)
{
	const size_t n = name_length(at, true), m = strlen(r->family.name);
	char labels[512] = "", series[1024], *end;
	double bound = NAN, value;
	char suffix[16];

	insist(r, r->family.type[0], "HELP and TYPE come first");
	insist(r, n >= m && n - m < sizeof suffix && !strncmp(at, r->family.name, m),
	       "a sample follows the head of its family");
	snprintf(suffix, sizeof suffix, "%.*s", (int)(n - m), at + m);
	at += n;
	if (*at == '{')
		do {
			at++;
			read_label(r, &at, &bound, labels, sizeof labels);
		} while (*at == ',');
	at += *at == '}';
	insist(r, *at == ' ', "a number after a blank");
	snprintf(series, sizeof series, "%.*s", (int)(at - r->line), r->line);
	insist(r, is_new(&r->series, series), "no two samples are the same");
	value = strtod(at + 1, &end);
	insist(r, end > at + 1 && !*end && isfinite(value) && value >= 0, "a number");
	if (!strcmp(r->family.type, "histogram"))
		read_bucket(r, suffix, labels, bound, value);
	else
		insist(r, !suffix[0] && isnan(bound), "no parts of a histogram");
}

static void read_all(struct reader *r, char *rest)
{
	char *line;

	while ((line = strsep(&rest, "\n")) && rest) {
		r->line = line;
		if (line[0] == '#' && line[1] == ' ')
			read_comment(r, line + 2);
		else
			read_sample(r, line);
	}
	insist(r, !line[0], "the last line ends");
	close_family(r);
}

bool prom_find_fault(const char *text, char fault[PROM_FAULT])
{
	struct reader r = {.line = "", .fault = fault};
	char *copy = strdup(text);

	fault[0] = 0;
	if (!setjmp(r.out))
		read_all(&r, copy);
	tdestroy(r.names, free);
	tdestroy(r.series, free);
	free(copy);
	return fault[0];
}

void prom_check(const char *text)
{
	char fault[PROM_FAULT];

	if (prom_find_fault(text, fault))
		fail_msg("%s", fault);
}

double prom_value(const char *text, const char *series)
{
	const size_t n = strlen(series);
	const char *at;

	for (at = text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
		if (strncmp(at, series, n) == 0 && at[n] == ' ')
			return strtod(at + n, NULL);
	fail_msg("no sample %s in:\n%s", series, text);
	return NAN;
}

double prom_sum(const char *text, const char *name, const char *part, unsigned *ret_count)
{
	const size_t n = strlen(name);
	unsigned count = 0;
	double sum = 0;
	const char *at;

	for (at = text; at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
		const char *end = strchr(at, '\n'), *found;

		if (strncmp(at, name, n) != 0 || (at[n] != '{' && at[n] != ' '))
			continue;
		found = strstr(at, part);
		if (!end || !found || found >= end)
			continue;
		while (end[-1] != ' ')
			end--;
		sum += strtod(end, NULL);
		count++;
	}
	if (ret_count)
		*ret_count = count;
	return sum;
}

double prom_only(const char *text, const char *name, const char *label, const char *value)
{
	char part[NAME];
	unsigned n;
	double ret;

	snprintf(part, sizeof part, "%s=\"%s\"", label, value);
	ret = prom_sum(text, name, part, &n);
	assert_int_equal(n, 1);
	return ret;
}

char *prom_metrics(const char *who)
{
	struct harness_process *p = cli_run("fiberctl", "metrics", who, NULL);
	char *text;

	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	text = strdup(p->out.bytes);
	harness_free(p);
	prom_check(text);
	return text;
}
