/* SPDX-License-Identifier: MIT */
/*
 * words.c - the words for states, waits and snapshots, for people and scripts
 *
 * Names come from the inspected program, which may be broken or hostile. They are escaped so that
 * no byte moves a terminal's cursor, and two different names never look the same.
 */
#include "inspect/model/words.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "inspect/text/escape.h"
#include "inspect/text/duration.h"

#define SECOND INT64_C(1000000000)

static void say_one_after(struct ins_strbuf *l, const char *words, uint64_t number)
{
	ins_strbuf_text(l, words);
	ins_strbuf_number(l, number);
}

const char *ins_words_state(const struct fib_layout *layout, unsigned state)
{
	static const char *const names[] = {"created", "runnable", "running", "suspended", "dead"};

	if (layout && state < layout->state_count && layout->state_names[state][0])
		return layout->state_names[state];
	return state < sizeof names / sizeof names[0] ? names[state] : INS_WORDS_UNKNOWN;
}

const char *ins_words_wait_kind(const struct fib_layout *layout, unsigned kind)
{
	static const char *const names[FIB_WAIT_COUNT] = {FIB_LAYOUT_WAIT_NAMES};

	if (layout && kind < layout->wait_count && layout->wait_names[kind][0])
		return layout->wait_names[kind];
	if (kind == INS_WAIT_CALL)
		return "call";
	return kind < FIB_WAIT_COUNT ? names[kind] : INS_WORDS_UNKNOWN;
}

const char *ins_words_events(unsigned events, char *buf, size_t size)
{
	if (!fib_row_events(events, buf, size)) {
		struct ins_strbuf l = ins_strbuf(buf, size);

		ins_strbuf_text(&l, "events ");
		ins_strbuf_hex(&l, events);
	}
	return buf;
}

static void say_left(struct ins_strbuf *l, const struct ins_fiber *fiber)
{
	const int64_t ns = ins_fiber_left(fiber);

	if (ns < 0)
		return;
	ins_strbuf_char(l, ' ');
	ins_duration_say(l, ns);
	ins_strbuf_text(l, " left");
}

static void say_fd(struct ins_strbuf *l, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	uint32_t fd = (uint32_t)row->wait_arg;
	char events[64];

	if (row->wait_arg == FIB_ROW_UNKNOWN)
		return;
	if (fd != UINT32_MAX)
		say_one_after(l, " ", fd);
	ins_strbuf_char(l, ' ');
	ins_strbuf_text(l,
			ins_words_events((unsigned)(row->wait_arg >> 32), events, sizeof events));
	if ((fiber->flags & INS_FIBER_THREAD) && row->object_name[0]) {
		ins_strbuf_text(l, " \"");
		ins_strbuf_quoted(l, row->object_name);
		ins_strbuf_char(l, '"');
	}
}

static void say_object(struct ins_strbuf *l, const struct fib_row *row, bool address)
{
	if (row->object_name[0]) {
		ins_strbuf_text(l, " \"");
		ins_strbuf_quoted(l, row->object_name);
		ins_strbuf_char(l, '"');
	}
	if (row->wait_object && (address || !row->object_name[0])) {
		ins_strbuf_char(l, '@');
		ins_strbuf_hex(l, row->wait_object);
	}
	if (row->wait_kind == FIB_WAIT_OFFLOAD && row->holder)
		say_one_after(l, " in thread ", row->holder & ~FIB_HOLDER_THREAD);
	else if (row->holder & FIB_HOLDER_THREAD)
		say_one_after(l, " held by thread ", row->holder & ~FIB_HOLDER_THREAD);
	else if (row->holder)
		say_one_after(l, " held by ", row->holder);
}

/* " of 2 descriptors: 25 read, 26 write" */
static void say_polled(struct ins_strbuf *l, const struct fib_row *row)
{
	const uint32_t n = fib_row_polled(row);

	say_one_after(l, " of ", n);
	ins_strbuf_text(l, n == 1 ? " descriptor" : " descriptors");
	if (!row->object_name[0])
		return;
	ins_strbuf_text(l, ": ");
	ins_strbuf_escaped(l, row->object_name);
}

const char *ins_words_wait(const struct fib_layout *layout, const struct ins_fiber *fiber,
			   bool address, char *buf, size_t size)
{
	const struct fib_row *row = &fiber->row;
	struct ins_strbuf l = ins_strbuf(buf, size);

	if (row->wait_kind == FIB_WAIT_NONE)
		return buf;
	ins_strbuf_escaped(&l, ins_words_wait_kind(layout, row->wait_kind));
	switch (row->wait_kind) {
	case FIB_WAIT_SLEEP:
	case FIB_WAIT_PARK:
	case FIB_WAIT_TIMER:
		say_left(&l, fiber);
		break;
	case FIB_WAIT_JOIN:
		if (row->wait_arg != FIB_ROW_UNKNOWN)
			say_one_after(&l, row->wait_arg & FIB_HOLDER_THREAD ? " thread " : " ",
				      ins_words_id(row->wait_arg));
		break;
	case FIB_WAIT_PINNED:
		if (row->holder)
			say_one_after(
				&l, row->holder & FIB_HOLDER_THREAD ? " to thread " : " to fiber ",
				ins_words_id(row->holder));
		break;
	case FIB_WAIT_FD:
		say_fd(&l, fiber);
		break;
	case FIB_WAIT_SELECT:
		if (fib_row_polled(row))
			say_polled(&l, row);
		else
			say_object(&l, row, address);
		break;
	case INS_WAIT_CALL:
		ins_strbuf_char(&l, ' ');
		ins_strbuf_escaped(&l, row->object_name);
		say_left(&l, fiber);
		break;
	default:
		say_object(&l, row, address);
		break;
	}
	return buf;
}

const char *ins_words_taken(const struct ins_summary *summary, char *buf, size_t size)
{
	const time_t seconds = (time_t)(summary->taken / SECOND);
	char host[256], when[64];
	struct tm local;

	buf[0] = 0;
	if (!summary->taken)
		return buf;
	if (!localtime_r(&seconds, &local) ||
	    !strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S %z", &local))
		snprintf(when, sizeof when, "at a time that makes no sense");
	snprintf(buf, size, "snapshot of %s, taken %s",
		 summary->host && summary->host[0] ? ins_escape(summary->host, host, sizeof host)
						   : "a machine without a name",
		 when);
	return buf;
}
