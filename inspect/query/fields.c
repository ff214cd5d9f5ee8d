/* SPDX-License-Identifier: MIT */
/*
 * fields.c - the fields of a fiber, by name
 *
 * One line of the table is one field. A new line is all that --where, --sort, --columns, --group-by
 * and the help need. A value is fetched for every fiber, so it is a number where possible and is
 * turned into words only when it is printed.
 */
#include "inspect/query/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "inspect/text/escape.h"
#include "inspect/model/words.h"
#include "inspect/text/duration.h"

static const struct fib_row *row_of(const struct ins_sight *sight)
{
	return &sight->fiber->row;
}

static struct ins_value number(uint64_t n)
{
	return (struct ins_value){.known = true, .number = n};
}

static struct ins_value number_if(bool known, uint64_t n)
{
	return (struct ins_value){.known = known, .number = n};
}

static struct ins_value counted(uint64_t n)
{
	return number_if(n != FIB_ROW_UNKNOWN, n);
}

static struct ins_value text(const char *t)
{
	return (struct ins_value){.known = t && t[0], .text = t};
}

/* Most fields ignore `field`. */
#define FIELD(name)                                           \
	static struct ins_value name(struct ins_sight *sight, \
				     __attribute__((unused)) const struct ins_field *field)

FIELD(get_id)
{
	return number(row_of(sight)->id & ~FIB_HOLDER_THREAD);
}

FIELD(get_state)
{
	return text(ins_words_state(sight->layout, row_of(sight)->state));
}

FIELD(get_age)
{
	if (sight->fiber->flags & INS_FIBER_THREAD)
		return number_if(false, 0);
	/* The clock of another machine may be behind: a negative age would sort as the oldest. */
	return number(row_of(sight)->age > 0 ? (uint64_t)row_of(sight)->age : 0);
}

FIELD(get_switches)
{
	return number(row_of(sight)->switches);
}

FIELD(get_runnable)
{
	return counted(row_of(sight)->runnable);
}

FIELD(get_waited)
{
	return counted(row_of(sight)->waited);
}

FIELD(get_lived)
{
	return counted(row_of(sight)->lived);
}

FIELD(get_cpu)
{
	return counted(row_of(sight)->cpu);
}

/* How large the stack of a thread is was not looked up. */
FIELD(get_stack)
{
	if (sight->fiber->flags & INS_FIBER_THREAD)
		return number_if(false, 0);
	if (fib_row_astray(row_of(sight)))
		return (struct ins_value){.instead = "outside"};
	return (struct ins_value){.known = fib_row_walkable(row_of(sight)),
				  .number = row_of(sight)->stack_used,
				  .of = row_of(sight)->stack_size};
}

FIELD(get_size)
{
	return number_if(!(sight->fiber->flags & INS_FIBER_THREAD), row_of(sight)->stack_size);
}

FIELD(get_high_water)
{
	return counted(row_of(sight)->stack_high_water);
}

FIELD(get_wait)
{
	if (row_of(sight)->wait_kind == FIB_WAIT_NONE)
		return text(NULL);
	return text(ins_words_wait_kind(sight->layout, row_of(sight)->wait_kind));
}

FIELD(get_waiting)
{
	const struct fib_row *row = row_of(sight);

	ins_words_wait(sight->layout, sight->fiber, true, sight->buf, sizeof sight->buf);
	if (!sight->buf[0] && row->carrier != FIB_ROW_CARRIER_NONE) {
		struct ins_strbuf l = ins_strbuf(sight->buf, sizeof sight->buf);

		ins_strbuf_text(&l, "on carrier ");
		ins_strbuf_number(&l, row->carrier);
	}
	return text(sight->buf);
}

FIELD(get_object)
{
	const struct fib_row *row = row_of(sight);
	struct ins_strbuf l = ins_strbuf(sight->buf, sizeof sight->buf);

	if (row->object_name[0])
		return text(row->object_name);
	if (row->wait_object)
		ins_strbuf_hex(&l, row->wait_object);
	return text(sight->buf);
}

FIELD(get_address)
{
	return number_if(row_of(sight)->wait_object != 0, row_of(sight)->wait_object);
}

FIELD(get_holder)
{
	return number_if(row_of(sight)->holder != 0, row_of(sight)->holder);
}

FIELD(get_fd)
{
	const struct fib_row *row = row_of(sight);

	return number_if(row->wait_kind == FIB_WAIT_FD && (uint32_t)row->wait_arg != UINT32_MAX,
			 (uint32_t)row->wait_arg);
}

FIELD(get_target)
{
	return number_if(row_of(sight)->wait_kind == FIB_WAIT_JOIN &&
				 row_of(sight)->wait_arg != FIB_ROW_UNKNOWN,
			 row_of(sight)->wait_arg);
}

FIELD(get_left)
{
	const int64_t ns = ins_fiber_left(sight->fiber);

	return number_if(ns >= 0, (uint64_t)ns);
}

FIELD(get_name)
{
	return text(row_of(sight)->name);
}

FIELD(get_carrier)
{
	return number_if(row_of(sight)->carrier != FIB_ROW_CARRIER_NONE, row_of(sight)->carrier);
}

FIELD(get_cancelled)
{
	return text(row_of(sight)->cancelled ? "yes" : NULL);
}

FIELD(get_masked)
{
	return text(row_of(sight)->flags & FIB_ROW_MASKED ? "yes" : NULL);
}

FIELD(get_parent)
{
	return number_if(row_of(sight)->parent != 0, row_of(sight)->parent);
}

FIELD(get_pins)
{
	return number(row_of(sight)->pins);
}

static struct ins_value place(struct ins_sight *sight, uint64_t pc, bool returned)
{
	const struct ins_frame *f = NULL;
	struct ins_strbuf l = ins_strbuf(sight->buf, sizeof sight->buf);
	size_t count = 0;

	if (!pc)
		return text(NULL);
	if (sight->symbols)
		f = ins_symbols_at(sight->symbols, pc, returned, &count);
	/* A function may start with an inlined one. */
	if (count && !returned)
		f += count - 1;
	if (count && f->function)
		return text(f->function);
	ins_strbuf_hex(&l, pc);
	return text(sight->buf);
}

FIELD(get_fn)
{
	return place(sight, row_of(sight)->entry, false);
}

FIELD(get_spawn)
{
	return place(sight, row_of(sight)->spawn_pc, true);
}

/* "serve_hold httpd.c:157": the innermost function, inlined or not, and the line of its call. */
FIELD(get_place)
{
	const uint64_t pc = sight->fiber->place;
	const struct ins_frame *f;
	struct ins_strbuf l = ins_strbuf(sight->buf, sizeof sight->buf);
	size_t count;

	if (!pc || !sight->symbols)
		return text(NULL);
	f = ins_symbols_at(sight->symbols, pc, false, &count);
	if (f->function)
		ins_strbuf_text(&l, f->function);
	else
		ins_strbuf_hex(&l, pc);
	if (f->file) {
		ins_strbuf_char(&l, ' ');
		ins_strbuf_text(&l, ins_frame_file(f));
		ins_strbuf_char(&l, ':');
		ins_strbuf_number(&l, (uint64_t)f->line);
	}
	return text(sight->buf);
}

FIELD(get_label)
{
	const char *key, *value;
	size_t at = 0;

	while (fib_row_label(row_of(sight), &at, &key, &value))
		if (strcmp(key, field->key) == 0)
			return (struct ins_value){.known = true, .text = value};
	return text(NULL);
}

#define LABEL "label."

const struct ins_field_info ins_field_infos[] = {
	{"id", "ID", "the fiber's number", INS_NUMBER, 10, 0, get_id},
	{"state", "STATE", "created, runnable, running, suspended, dead", INS_TEXT, 9, 0,
	 get_state},
	{"age", "AGE", "how long in that state", INS_TIME, 8, 0, get_age},
	{"switches", "SWITCHES", "how often it was scheduled", INS_NUMBER, 10, 0, get_switches},
	{"cpu", "CPU", "time on a carrier", INS_TIME, 8, 0, get_cpu},
	{"runnable", "RUNNABLE", "time in line for a carrier, in all", INS_TIME, 8, 0,
	 get_runnable},
	{"waited", "WAITED", "time suspended, in all", INS_TIME, 8, 0, get_waited},
	{"lived", "LIVED", "time since it was submitted", INS_TIME, 8, 0, get_lived},
	{"stack", "STACK", "bytes of its stack in use", INS_SIZE, 10, 0, get_stack},
	{"size", "SIZE", "bytes of its stack", INS_SIZE, 6, 0, get_size},
	{"high-water", "HIGHEST", "the most of its stack ever in use", INS_SIZE, 8,
	 INS_NEEDS_HIGH_WATER, get_high_water},
	{"wait", "KIND", "what kind of wait: see the topic 'wait-kinds'", INS_TEXT, 12, 0,
	 get_wait},
	{"waiting", "WAIT", "what it waits for and who holds that, in words", INS_WORDS, 44, 0,
	 get_waiting},
	{"object", "OBJECT", "the name of what it waits for, or its address", INS_TEXT, 16, 0,
	 get_object},
	{"address", "ADDRESS", "the address of what it waits for", INS_ADDRESS, 14, 0, get_address},
	{"holder", "HOLDER", "the fiber, or thread:TID, that holds what it waits for", INS_HOLDER,
	 12, 0, get_holder},
	{"fd", "FD", "the descriptor it waits for", INS_NUMBER, 6, 0, get_fd},
	{"target", "TARGET", "the fiber it joins", INS_NUMBER, 10, 0, get_target},
	{"left", "LEFT", "time until its deadline", INS_TIME, 8, 0, get_left},
	{"carrier", "CARRIER", "the carrier it runs on", INS_NUMBER, 7, 0, get_carrier},
	{"pins", "PINS", "how often it is pinned", INS_NUMBER, 4, 0, get_pins},
	{"cancelled", "CANCELLED", "yes if it was cancelled", INS_TEXT, 9, 0, get_cancelled},
	{"masked", "MASKED", "yes where it masks cancellations", INS_TEXT, 6, 0, get_masked},
	{"parent", "PARENT", "the fiber that spawned it", INS_NUMBER, 10, 0, get_parent},
	{"fn", "FUNCTION", "the function it runs", INS_TEXT, 24, INS_NEEDS_SYMBOLS, get_fn},
	{"spawn", "SPAWNED IN", "the function that spawned it", INS_TEXT, 24, INS_NEEDS_SYMBOLS,
	 get_spawn},
	{"place", "PLACE", "the program's innermost call: function, file and line", INS_TEXT, 32,
	 INS_NEEDS_SYMBOLS | INS_NEEDS_PLACE, get_place},
	{"name", "NAME", "its name", INS_TEXT, 0, 0, get_name},
	{LABEL, "", "label.KEY: the value of its label KEY", INS_TEXT, 16, INS_NEEDS_LABELS,
	 get_label},
	{NULL, NULL, NULL, INS_TEXT, 0, 0, NULL},
};

bool ins_field_find(const char *name, size_t n, struct ins_field *ret)
{
	const struct ins_field_info *info;
	const size_t prefix = strlen(LABEL);

	memset(ret, 0, sizeof *ret);
	for (info = ins_field_infos; info->name; info++) {
		if (info->get == get_label && n > prefix && n - prefix < sizeof ret->key &&
		    strncmp(name, LABEL, prefix) == 0) {
			memcpy(ret->key, name + prefix, n - prefix);
			break;
		}
		if (info->get != get_label && strlen(info->name) == n &&
		    strncmp(name, info->name, n) == 0)
			break;
	}
	ret->info = info;
	return info->name != NULL;
}

const char *ins_field_title(const struct ins_field *field)
{
	return field->key[0] ? field->key : field->info->title;
}

struct ins_value ins_field_get(struct ins_sight *sight, const struct ins_field *field)
{
	return field->info->get(sight, field);
}

/* "912", "5.3k", "256k", "8m": bytes in at most four characters and a unit. */
static void say_size(struct ins_strbuf *l, uint64_t bytes)
{
	ins_strbuf_number(l, bytes < 1024 ? bytes : bytes < 10u << 20 ? bytes / 1024 : bytes >> 20);
	if (bytes >= 1024 && bytes < 10240) {
		ins_strbuf_char(l, '.');
		ins_strbuf_number(l, bytes % 1024 * 10 / 1024);
	}
	if (bytes >= 1024)
		ins_strbuf_char(l, bytes < 10u << 20 ? 'k' : 'm');
}

static void say_number(struct ins_strbuf *line, enum ins_field_kind kind, uint64_t number)
{
	switch (kind) {
	case INS_TIME:
		ins_duration_say(line, number > INT64_MAX ? INT64_MAX : (int64_t)number);
		break;
	case INS_SIZE:
		say_size(line, number);
		break;
	case INS_ADDRESS:
		ins_strbuf_hex(line, number);
		break;
	case INS_HOLDER:
		if (number & FIB_HOLDER_THREAD)
			ins_strbuf_text(line, "thread:");
		ins_strbuf_number(line, number & ~FIB_HOLDER_THREAD);
		break;
	default:
		ins_strbuf_number(line, number);
	}
}

void ins_field_say(struct ins_strbuf *line, const struct ins_field *field, struct ins_value value)
{
	if (!value.known && value.instead)
		ins_strbuf_text(line, value.instead);
	else if (!value.known)
		ins_strbuf_char(line, '-');
	else if (field->info->kind == INS_WORDS)
		ins_strbuf_text(line, value.text);
	else if (field->info->kind == INS_TEXT)
		ins_strbuf_quoted(line, value.text);
	else
		say_number(line, field->info->kind, value.number);
	if (value.of) {
		ins_strbuf_char(line, '/');
		say_number(line, field->info->kind, value.of);
	}
}

const char *ins_field_words(const struct ins_field *field, struct ins_value value,
			    char buf[INS_FIELD_WORDS])
{
	struct ins_strbuf l = ins_strbuf(buf, INS_FIELD_WORDS);

	if (!value.known)
		return NULL;
	if (ins_field_is_text(field))
		return value.text;
	ins_field_say(&l, field, value);
	return buf;
}

int ins_field_compare(const struct ins_field *field, struct ins_value a, struct ins_value b)
{
	if (a.known != b.known)
		return a.known ? -1 : 1;
	if (!a.known)
		return 0;
	if (ins_field_is_text(field))
		return strcmp(a.text, b.text);
	return a.number < b.number ? -1 : a.number > b.number;
}

bool ins_field_is_text(const struct ins_field *field)
{
	return field->info->kind == INS_TEXT || field->info->kind == INS_WORDS;
}

void ins_field_wants(const struct ins_field *field, struct ins_request *request)
{
	if (field->info->needs & INS_NEEDS_LABELS)
		request->labels = true;
	if (field->info->needs & INS_NEEDS_HIGH_WATER)
		request->high_water = true;
	if (field->info->needs & INS_NEEDS_SYMBOLS)
		request->modules = true;
	if (field->info->needs & INS_NEEDS_PLACE)
		request->places = true;
}
