/* SPDX-License-Identifier: MIT */
/* render_holder.c - say who holds a lock */
#include "inspect/render/render_holder.h"

#include <stdio.h>

#include <fiber/fiber.h>

#include "inspect/process/thread.h"
#include "inspect/render/render.h"
#include "inspect/text/strbuf.h"

static void name_of(struct ins_table *table, size_t at, char *name, size_t size)
{
	struct ins_fiber fiber;

	ins_table_get(table, at, &fiber);
	snprintf(name, size, "%s", fiber.row.name);
}

const char *ins_words_holder(struct ins_table *table, uint64_t holder, size_t at, pid_t pid,
			     char *buf, size_t size)
{
	struct ins_strbuf l = ins_strbuf(buf, size);
	char name[INS_THREAD_NAME] = "";
	struct ins_fiber fiber;
	bool ended = false;

	if (holder & FIB_HOLDER_THREAD) {
		uint64_t tid = holder & ~FIB_HOLDER_THREAD;

		ended = ins_thread_look(pid, tid, name) == INS_THREAD_ENDED;
		if (at != INS_NOBODY && !name[0])
			name_of(table, at, name, sizeof name);
		ins_strbuf_text(&l, "thread ");
		ins_strbuf_number(&l, tid);
	} else {
		ins_strbuf_text(&l, ins_words_rows(ins_table_summary(table)));
		ins_strbuf_char(&l, ' ');
		ins_strbuf_number(&l, holder);
		if (at != INS_NOBODY) {
			ins_table_get(table, at, &fiber);
			snprintf(name, sizeof name, "%s", fiber.row.name);
			ended = fiber.row.state == FIBER_DEAD;
		} else {
			ended = true;
		}
	}
	if (name[0] || (at != INS_NOBODY && !(holder & FIB_HOLDER_THREAD))) {
		ins_strbuf_text(&l, " \"");
		ins_strbuf_quoted(&l, name);
		ins_strbuf_text(&l, "\"");
	}
	if (ended)
		ins_strbuf_text(&l, ", which has ended");
	return buf;
}

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

bool ins_json_holder(json_t *object, const struct fib_layout *layout, struct ins_table *table,
		     uint64_t holder, size_t at, pid_t pid)
{
	static const char *const threads[] = {"unknown", "alive", "ended"};
	bool thread = (holder & FIB_HOLDER_THREAD) != 0;
	uint64_t tid = holder & ~FIB_HOLDER_THREAD;
	json_t *name = NULL, *state = NULL;
	char comm[INS_THREAD_NAME];
	struct ins_fiber fiber;

	if (thread) {
		state = json_string(threads[ins_thread_look(pid, tid, comm)]);
		if (at != INS_NOBODY && !comm[0])
			name_of(table, at, comm, sizeof comm);
		name = comm[0] ? ins_json_text(comm) : json_null();
	} else if (holder && at != INS_NOBODY) {
		ins_table_get(table, at, &fiber);
		state = ins_json_text(ins_words_state(layout, fiber.row.state));
		name = ins_json_name(&fiber);
	} else {
		state = holder ? json_string("gone") : json_null();
		name = json_null();
	}
	return json_object_set_new(object, "holderId",
				   holder && !thread ? number(holder) : json_null()) == 0 &&
	       json_object_set_new(object, "holderThread", thread ? number(tid) : json_null()) ==
		       0 &&
	       json_object_set_new(object, "holderName", name) == 0 &&
	       json_object_set_new(object, "holderState", state) == 0;
}
