/* SPDX-License-Identifier: MIT */
/*
 * render_words.c - the words that both renderers are made of
 *
 * Names come from the program that is looked at, which may be broken or hostile: no byte of them
 * reaches a terminal that could move its cursor, and two different names never look the same.
 */
#include "inspect/render.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>

#include "inspect/plain.h"

#define SECOND INT64_C(1000000000)

const char *ins_words_duration(int64_t ns, char *buf, size_t size)
{
	int64_t s = ns / SECOND;

	if (ns <= 0)
		snprintf(buf, size, "0s");
	else if (ns < 1000)
		snprintf(buf, size, "%" PRId64 "ns", ns);
	else if (ns < 1000000)
		snprintf(buf, size, "%" PRId64 "us", ns / 1000);
	else if (ns < SECOND)
		snprintf(buf, size, "%" PRId64 "ms", ns / 1000000);
	else if (s < 60 && ns % SECOND / 100000000)
		snprintf(buf, size, "%" PRId64 ".%" PRId64 "s", s, ns % SECOND / 100000000);
	else if (s < 60)
		snprintf(buf, size, "%" PRId64 "s", s);
	else if (s < 3600)
		snprintf(buf, size, "%" PRId64 "m%" PRId64 "s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(buf, size, "%" PRId64 "h%" PRId64 "m", s / 3600, s % 3600 / 60);
	else
		snprintf(buf, size, "%" PRId64 "d%" PRId64 "h", s / 86400, s % 86400 / 3600);
	return buf;
}

const char *ins_words_clean(const char *text, char *buf, size_t size)
{
	return ins_plain_quoted(text, buf, size);
}

const char *ins_words_state(const struct fib_layout *layout, unsigned state)
{
	static const char *const names[] = {"created", "runnable", "running", "suspended", "dead"};

	if (layout && state < layout->state_count && layout->state_names[state][0])
		return layout->state_names[state];
	return state < sizeof names / sizeof names[0] ? names[state] : "unknown";
}

const char *ins_words_wait_kind(const struct fib_layout *layout, unsigned kind)
{
	static const char *const names[FIB_WAIT_COUNT] = {
		"none",	   "yield",	  "sleep",	  "park",    "predicate", "join",
		"mutex",   "rwlock-read", "rwlock-write", "cond",    "sem",	  "event",
		"barrier", "once",	  "waitgroup",	  "group",   "chan-send", "chan-recv",
		"select",  "fd",	  "timer",	  "offload", "op",	  "pinned",
	};

	if (layout && kind < layout->wait_count && layout->wait_names[kind][0])
		return layout->wait_names[kind];
	return kind < FIB_WAIT_COUNT ? names[kind] : "unknown";
}

const char *ins_words_events(unsigned events, char *buf, size_t size)
{
	static const struct {
		unsigned bit;
		const char *name;
	} known[] = {{POLLIN, "read"}, {POLLOUT, "write"}, {POLLPRI, "priority"}};
	size_t i, used = 0;

	buf[0] = 0;
	for (i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (!(events & known[i].bit) || used >= size)
			continue;
		snprintf(buf + used, size - used, "%s%s", used ? "|" : "", known[i].name);
		used += strlen(buf + used);
	}
	if (!used)
		snprintf(buf, size, "events 0x%x", events);
	return buf;
}

/* A text that grows in a buffer and is cut at its end. */
struct line {
	char *buf;
	size_t size, used;
};

static void say(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (l->used >= l->size)
		return;
	va_start(ap, fmt);
	n = vsnprintf(l->buf + l->used, l->size - l->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->used += (size_t)n;
}

static void say_left(struct line *l, const struct ins_fiber *fiber)
{
	char left[32];

	int64_t ns;

	if (fiber->row.deadline == INT64_MAX)
		return;
	/* Both may be anything. What would overflow is a deadline long past. */
	if (__builtin_sub_overflow(fiber->row.deadline, fiber->now, &ns))
		ns = fiber->row.deadline < 0 ? 0 : INT64_MAX;
	say(l, " %s left", ins_words_duration(ns, left, sizeof left));
}

static void say_fd(struct line *l, const struct fib_row *row)
{
	uint32_t fd = (uint32_t)row->wait_arg;
	char events[64];

	if (row->wait_arg == FIB_ROW_UNKNOWN)
		return;
	if (fd != UINT32_MAX)
		say(l, " %" PRIu32, fd);
	say(l, " %s", ins_words_events((unsigned)(row->wait_arg >> 32), events, sizeof events));
}

static void say_object(struct line *l, const struct fib_row *row, bool address)
{
	char name[sizeof row->object_name * 4];

	if (row->object_name[0])
		say(l, " \"%s\"", ins_words_clean(row->object_name, name, sizeof name));
	if (row->wait_object && (address || !row->object_name[0]))
		say(l, "@0x%" PRIx64, row->wait_object);
	if (row->holder & FIB_HOLDER_THREAD)
		say(l, " held by thread %" PRIu64, row->holder & ~FIB_HOLDER_THREAD);
	else if (row->holder)
		say(l, " held by %" PRIu64, row->holder);
}

const char *ins_words_wait(const struct fib_layout *layout, const struct ins_fiber *fiber,
			   bool address, char *buf, size_t size)
{
	const struct fib_row *row = &fiber->row;
	struct line l = {buf, size, 0};
	char kind[64];

	buf[0] = 0;
	if (row->wait_kind == FIB_WAIT_NONE)
		return buf;
	say(&l, "%s", ins_plain(ins_words_wait_kind(layout, row->wait_kind), kind, sizeof kind));
	switch (row->wait_kind) {
	case FIB_WAIT_SLEEP:
	case FIB_WAIT_PARK:
	case FIB_WAIT_TIMER:
		say_left(&l, fiber);
		break;
	case FIB_WAIT_JOIN:
		if (row->wait_arg != FIB_ROW_UNKNOWN)
			say(&l, " %" PRIu64, row->wait_arg);
		break;
	case FIB_WAIT_FD:
		say_fd(&l, row);
		break;
	default:
		say_object(&l, row, address);
		break;
	}
	return buf;
}
