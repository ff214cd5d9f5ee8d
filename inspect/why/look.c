/* SPDX-License-Identifier: MIT */
/* look.c - read a source twice, and say what its fibers do */
#include "inspect/why/look.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <fiber/fiber.h>

#include "inspect/model/words.h"
#include "inspect/symbols/program_frame.h"
#include "inspect/text/duration.h"
#include "inspect/unwind/thread_stack_walk.h"

/*
 * Whether to ask for how deep each stack was ever used, which costs a system call a fiber. The number
 * of fibers is known after the first reading. What never changes is read once, and costs no program.
 */
static bool wants_depths(const struct ins_look *look, const struct ins_confirmed *before)
{
	return look->single ? ins_source_still(look->source)
			    : before->table && ins_table_count(before->table) <= INS_LOOK_DEPTHS;
}

/* The words of a finding are of a source whose modules were read; a verdict has none. */
static int read_once(struct ins_look *look, const struct ins_confirmed *before,
		     struct ins_error *error)
{
	const struct ins_request request = {.modules = !look->silent,
					    .reads = true,
					    .threads = !look->silent,
					    .high_water = wants_depths(look, before)};
	const int rc = ins_confirm_read(look->source, &request, look->pid, look->single, before,
					&look->last, error);

	if (look->pid)
		ins_condition_read(look->pid, NULL, &look->condition);
	return rc;
}

static void wait_for(int64_t ns)
{
	struct timespec left = {ns / 1000000000, ns % 1000000000};

	while (ns > 0 && nanosleep(&left, &left) < 0)
		;
}

/* Findings of the last reading are confirmed. The earlier one stays the first, as old as asked for. */
static int read_again(struct ins_look *look, struct ins_error *error)
{
	struct ins_confirmed before = look->last;
	int rc;

	if (!look->earlier.table)
		look->condition_before = look->condition;
	rc = read_once(look, &before, error);
	if (look->earlier.table)
		ins_confirmed_free(&before);
	else
		look->earlier = before;
	return rc;
}

int ins_look_take(struct ins_look *look, int64_t between, struct ins_error *error)
{
	const struct ins_confirmed none = {0};
	int rc;

	look->wanted = between;
	rc = read_once(look, &none, error);

	if (rc == 0 && !look->single) {
		wait_for(between);
		rc = read_again(look, error);
		if (rc == 0 && ins_deadlocks_fleeting(look->last.found)) {
			wait_for(INS_FLEETING_NS);
			rc = read_again(look, error);
		}
	}
	if (rc < 0 || look->silent)
		return rc;
	rc = ins_unwinder_new(look->source, &look->unwinder);
	if (rc == 0)
		rc = ins_symbols_new(look->source->modules, &look->symbols);
	return rc < 0 ? ins_error_set(error, rc, "out of memory") : 0;
}

void ins_look_drop(struct ins_look *look)
{
	ins_confirmed_free(&look->earlier);
	ins_confirmed_free(&look->last);
	ins_table_free(look->since);
	ins_peers_free(&look->peers);
	ins_symbols_free(look->symbols);
	ins_unwinder_free(look->unwinder);
	ins_lost_drop(&look->lost);
	free(look->lost_groups.at);
}

size_t ins_look_count(const struct ins_look *look)
{
	return ins_graph_fibers(look->last.graph);
}

void ins_look_get(const struct ins_look *look, size_t i, struct ins_fiber *ret)
{
	ins_table_get(look->last.table, i, ret);
}

static bool same_pinned_wait(const struct fib_row *before, const struct fib_row *now)
{
	if (now->carrier == FIB_ROW_CARRIER_NONE)
		return true;
	return before->pinned_waits == now->pinned_waits && before->wait_kind == now->wait_kind &&
	       before->wait_object == now->wait_object && before->wait_arg == now->wait_arg &&
	       before->deadline == now->deadline && before->holder == now->holder;
}

bool ins_look_stayed(const struct ins_look *look, const struct ins_fiber *fiber)
{
	struct ins_fiber before;
	ssize_t at;

	if (look->single)
		return true;
	at = ins_table_find(look->earlier.table, fiber->row.id);
	if (at < 0)
		return false;
	ins_table_get(look->earlier.table, (size_t)at, &before);
	return before.row.seq == fiber->row.seq && same_pinned_wait(&before.row, &fiber->row);
}

/* -- places -- */

static void say_frame(const struct ins_frame *frame, struct ins_strbuf *line)
{
	if (frame->file) {
		ins_strbuf_escaped(line, ins_frame_file(frame));
		ins_strbuf_char(line, ':');
		ins_strbuf_number(line, (uint64_t)frame->line);
		ins_strbuf_text(line, frame->function ? " in " : "");
	} else if (frame->function) {
		ins_strbuf_text(line, "in ");
	}
	if (frame->function)
		ins_strbuf_escaped(line, frame->function);
}

const char *ins_look_place_of(struct ins_look *look, uint64_t pc, bool returned, char *buf,
			      size_t size)
{
	struct ins_strbuf line = ins_strbuf(buf, size);
	size_t count;

	if (pc)
		say_frame(ins_symbols_at(look->symbols, pc, returned, &count), &line);
	return buf;
}

struct walking {
	struct ins_look *look;
	struct ins_walk walk;
};

static int walk(void *context, const struct ins_fiber *fiber)
{
	struct walking *w = context;

	ins_walk_row(w->look->unwinder, fiber, &w->walk);
	return 0;
}

const char *ins_look_place(struct ins_look *look, const struct ins_fiber *fiber, char *buf,
			   size_t size)
{
	const struct ins_request one = {
		.id = fiber->row.id, .record = fiber->row.record, .stacks = true};
	struct walking w = {.look = look};
	struct ins_error error = {""};
	struct ins_summary summary;
	/* A fiber that runs, or has ended since, has no place; that is no problem of the answer. */
	struct ins_problems *problems = &look->source->problems;
	const struct ins_problems before = *problems;
	int rc;
	unsigned i;

	buf[0] = 0;
	*problems = (struct ins_problems){.count = 0};
	rc = ins_source_read(look->source, &one, walk, &w, &summary, &error);
	ins_problems_free(problems);
	*problems = before;
	if (rc < 0 || !w.walk.count)
		return buf;
	i = ins_program_frame(look->symbols, &w.walk);
	return ins_look_place_of(look, w.walk.pc[i], ins_walk_returned(&w.walk, i), buf, size);
}

/* -- words -- */

void ins_look_say_fiber(const struct ins_fiber *fiber, struct ins_strbuf *line)
{
	ins_strbuf_text(line, ins_words_row(fiber->flags));
	ins_strbuf_char(line, ' ');
	ins_strbuf_number(line, ins_words_id(fiber->row.id));
	if (!fiber->row.name[0])
		return;
	ins_strbuf_text(line, " \"");
	ins_strbuf_quoted(line, fiber->row.name);
	ins_strbuf_char(line, '"');
}

static const char *kind_of_object(const struct ins_look *look, unsigned wait_kind)
{
	if (wait_kind == FIB_WAIT_RWLOCK_READ || wait_kind == FIB_WAIT_RWLOCK_WRITE)
		return "rwlock";
	return ins_words_wait_kind(&look->source->layout, wait_kind);
}

void ins_look_say_object(const struct ins_look *look, const struct ins_fiber *waiter,
			 struct ins_strbuf *line)
{
	ins_strbuf_escaped(line, kind_of_object(look, waiter->row.wait_kind));
	if (waiter->row.object_name[0]) {
		ins_strbuf_text(line, " \"");
		ins_strbuf_quoted(line, waiter->row.object_name);
		ins_strbuf_char(line, '"');
	} else if (waiter->row.wait_object) {
		ins_strbuf_char(line, '@');
		ins_strbuf_hex(line, waiter->row.wait_object);
	}
}

bool ins_look_old(const struct ins_look *look, int64_t age, int64_t more)
{
	return age >= INS_LOOK_LONG - more ||
	       (ins_table_summary(look->last.table)->threads && !look->single);
}

bool ins_look_waits(const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;

	return row->wait_kind != FIB_WAIT_NONE && row->wait_kind != FIB_WAIT_YIELD &&
	       (row->state == FIBER_SUSPENDED || (row->state == FIBER_RUNNING && row->pins));
}

bool ins_look_knows_age(const struct ins_fiber *fiber)
{
	const bool pinned = ins_look_waits(fiber) && fiber->row.carrier != FIB_ROW_CARRIER_NONE;

	return !pinned && !(fiber->flags & INS_FIBER_THREAD);
}

int64_t ins_look_delay(const struct ins_look *look)
{
	return look->single && !ins_source_still(look->source) ? INS_LOOK_LONG : INS_LOOK_DELAY;
}

const struct ins_peer *ins_look_peer(struct ins_look *look, const struct ins_fiber *fiber)
{
	if (fiber->row.wait_kind != FIB_WAIT_FD || !ins_look_waits(fiber) || !look->pid)
		return NULL;
	if (!look->peers_read)
		ins_peers_read(look->pid, &look->peers); /* holds none after an error */
	look->peers_read = true;
	return ins_peers_of(&look->peers, (uint32_t)fiber->row.wait_arg);
}

bool ins_look_runnable(const struct ins_fiber *fiber)
{
	/* An idle fiber waits as long as any other one can run. */
	return fiber->row.state == FIBER_RUNNABLE && !(fiber->row.flags & FIBER_IDLE);
}

bool ins_look_keeps(const struct ins_look *look, const struct ins_fiber *fiber)
{
	return fiber->row.state == FIBER_RUNNING && !ins_look_waits(fiber) &&
	       fiber->row.age >= ins_look_delay(look) && ins_look_stayed(look, fiber);
}

int64_t ins_look_sleeps(const struct ins_fiber *fiber)
{
	const int64_t left = ins_fiber_left(fiber);

	if (!ins_look_waits(fiber) || fiber->row.wait_kind != FIB_WAIT_SLEEP || left < 0)
		return 0;
	return left < INS_LOOK_LONG ? left : INS_LOOK_LONG;
}

static void say_sleep(const struct ins_fiber *fiber, struct ins_strbuf *line)
{
	const int64_t left = ins_fiber_left(fiber);

	ins_strbuf_text(line, ins_look_knows_age(fiber) ? "has slept for " : "sleeps");
	if (ins_look_knows_age(fiber))
		ins_duration_say(line, fiber->row.age);
	if (left > 0) {
		ins_strbuf_text(line, ", ");
		ins_duration_say(line, left);
		ins_strbuf_text(line, " left");
	}
}

void ins_look_say_doing(const struct ins_look *look, const struct ins_fiber *fiber,
			struct ins_strbuf *line)
{
	const bool aged = ins_look_knows_age(fiber);
	char text[256];

	if (ins_look_waits(fiber) && fiber->row.wait_kind == FIB_WAIT_SLEEP) {
		say_sleep(fiber, line);
		return;
	}
	if (ins_look_waits(fiber)) {
		ins_strbuf_text(line, aged ? "has waited for " : "waits for ");
		ins_strbuf_text(line, ins_words_wait(&look->source->layout, fiber, false, text,
						     sizeof text));
	} else if (!aged) {
		ins_strbuf_text(line, "runs");
	} else if (fiber->row.state == FIBER_RUNNING) {
		ins_strbuf_text(line, "has run on carrier ");
		ins_strbuf_number(line, fiber->row.carrier);
	} else {
		ins_strbuf_text(line, "has waited for a carrier");
	}
	if (!aged)
		return;
	ins_strbuf_text(line, " for ");
	ins_duration_say(line, fiber->row.age);
}

void ins_look_say_at(const char *place, struct ins_strbuf *line)
{
	if (!place[0])
		return;
	/* Without debug information it is "in compact". */
	ins_strbuf_text(line, strncmp(place, "in ", 3) == 0 ? " " : " at ");
	ins_strbuf_text(line, place);
}

void ins_look_say_count(struct ins_strbuf *line, uint64_t count, const char *one, const char *more)
{
	ins_strbuf_number(line, count);
	ins_strbuf_char(line, ' ');
	ins_strbuf_text(line, count == 1 ? one : more);
}
