/* SPDX-License-Identifier: MIT */
/* duration.c - parse and format lengths of time */
#include "inspect/text/duration.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
	{"m", INT64_C(60) * 1000000000},
	{"h", INT64_C(3600) * 1000000000},
	{"d", INT64_C(86400) * 1000000000},
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The longest unit that text starts with: "ms" is not "m". NULL: none. */
static const char *unit(const char *text, int64_t *ret_ns)
{
	size_t i, n = 0;

	while (text[n] >= 'a' && text[n] <= 'z')
		n++;
	for (i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (strlen(units[i].name) == n && strncmp(text, units[i].name, n) == 0) {
			*ret_ns = units[i].ns;
			return text + n;
		}
	}
	return NULL;
}

/*
 * Add a number with its unit. whole and billionths are the number's parts before and after the
 * point.
 */
static bool add(int64_t *sum, int64_t whole, int64_t billionths, int64_t ns)
{
	int64_t part;

	if (__builtin_mul_overflow(whole, ns, &part) || __builtin_add_overflow(*sum, part, sum))
		return false;
	/* Neither product overflows: ns is at most a day. */
	part = ns >= 1000000000 ? ns / 1000000000 * billionths : ns * billionths / 1000000000;
	return !__builtin_add_overflow(*sum, part, sum);
}

bool ins_duration_parse(const char *text, int64_t *ret)
{
	const char *first;
	int64_t sum = 0;

	if (!digit(*text))
		return false;
	for (first = text; *text;) {
		const bool alone = text == first;
		int64_t whole = 0, billionths = 0, place = 100000000, ns = 1000000000;

		if (!digit(*text))
			return false;
		for (; digit(*text); text++)
			if (__builtin_mul_overflow(whole, 10, &whole) ||
			    __builtin_add_overflow(whole, *text - '0', &whole))
				return false;
		if (*text == '.' && digit(text[1]))
			for (text++; digit(*text); text++, place /= 10)
				billionths += place * (*text - '0');
		if (*text) {
			text = unit(text, &ns);
			if (!text)
				return false;
		} else if (!alone) {
			return false; /* "2m14": the unit is missing */
		}
		if (!add(&sum, whole, billionths, ns))
			return false;
	}
	*ret = sum;
	return true;
}

bool ins_duration_bare(const char *text)
{
	return text[strspn(text, "0123456789.")] == 0;
}

int64_t ins_duration_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Write a number with its unit, then the rest in the next smaller unit: "2m14s". */
static void say_two(struct ins_strbuf *l, int64_t big, char unit, int64_t small, char small_unit)
{
	ins_strbuf_number(l, (uint64_t)big);
	ins_strbuf_char(l, unit);
	ins_strbuf_number(l, (uint64_t)small);
	ins_strbuf_char(l, small_unit);
}

static void say_one(struct ins_strbuf *l, int64_t number, const char *unit)
{
	ins_strbuf_number(l, (uint64_t)number);
	ins_strbuf_text(l, unit);
}

void ins_duration_say(struct ins_strbuf *l, int64_t ns)
{
	int64_t s = ns / SECOND;

	if (ns <= 0)
		ins_strbuf_text(l, "0s");
	else if (ns < 1000)
		say_one(l, ns, "ns");
	else if (ns < 1000000)
		say_one(l, ns / 1000, "us");
	else if (ns < SECOND)
		say_one(l, ns / 1000000, "ms");
	else if (s < 60 && ns % SECOND / 100000000)
		say_two(l, s, '.', ns % SECOND / 100000000, 's');
	else if (s < 60)
		say_one(l, s, "s");
	else if (s < 3600)
		say_two(l, s / 60, 'm', s % 60, 's');
	else if (s < 86400)
		say_two(l, s / 3600, 'h', s % 3600 / 60, 'm');
	else
		say_two(l, s / 86400, 'd', s % 86400 / 3600, 'h');
}

void ins_duration_say_seconds(struct ins_strbuf *l, int64_t ns)
{
	const uint64_t s = (uint64_t)(ns > 0 ? ns : 0) / SECOND;
	const uint64_t ms = (uint64_t)(ns > 0 ? ns : 0) % SECOND / 1000000;

	ins_strbuf_number(l, s);
	if (ns > 0 && s < 10000)
		ins_strbuf_char(l, '.');
	if (ns > 0 && s < 10000)
		ins_strbuf_number(l, ms / 100);
	if (ns > 0 && !s) {
		ins_strbuf_number(l, ms / 10 % 10);
		ins_strbuf_number(l, ms % 10);
	}
	ins_strbuf_char(l, 's');
}

const char *ins_duration_seconds(int64_t ns, char *buf, size_t size)
{
	struct ins_strbuf l = ins_strbuf(buf, size);

	ins_duration_say_seconds(&l, ns);
	return buf;
}

/* Numbers of a column have at most four digits before the point, as long as there is a larger unit. */
static int64_t unit_of(int64_t largest, const char **ret_name)
{
	static const struct {
		int64_t ns;
		const char *name;
	} sizes[] = {{1000, "us"}, {1000000, "ms"}, {SECOND, "s"}};
	size_t i = 0;

	while (i < 2 && largest >= 10000 * sizes[i].ns)
		i++;
	*ret_name = sizes[i].name;
	return sizes[i].ns;
}

const char *ins_duration_column(int64_t ns, int64_t largest, char *buf, size_t size)
{
	struct ins_strbuf l = ins_strbuf(buf, size);
	const char *name;
	const int64_t unit = unit_of(largest, &name);
	const int64_t part = ns > 0 ? ns % unit / (unit / 1000) : 0;

	ins_strbuf_number(&l, (uint64_t)(ns > 0 ? ns / unit : 0));
	if (ns > 0) {
		ins_strbuf_char(&l, '.');
		ins_strbuf_number(&l, (uint64_t)part / 100);
		ins_strbuf_number(&l, (uint64_t)part / 10 % 10);
		ins_strbuf_number(&l, (uint64_t)part % 10);
	}
	ins_strbuf_text(&l, name);
	return buf;
}

const char *ins_duration_text(int64_t ns, char *buf, size_t size)
{
	struct ins_strbuf l = ins_strbuf(buf, size);

	ins_duration_say(&l, ns);
	return buf;
}
