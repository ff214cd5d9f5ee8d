/* SPDX-License-Identifier: MIT */
/*
 * rule_offload.c - all threads for blocking calls are busy, and calls wait for one
 *
 * The program publishes how many threads it has and since when the first call without one waits
 * (fiber_layout.h). Calls are taken in order, and a thread is added as long as there may be more. So a call
 * that has waited for INS_LOOK_LONG shows that all threads were busy all that time, also if it is read
 * once.
 */
#include "inspect/why/collect.h"

#include <errno.h>

#include <fiber/fiber.h>

#include "inspect/text/duration.h"

/* The fibers that wait for calls. */
struct calls {
	uint64_t count;
	size_t longest;
	int64_t age, now;
};

static bool waits(const struct ins_fiber *fiber)
{
	return fiber->row.wait_kind == FIB_WAIT_OFFLOAD && ins_look_waits(fiber);
}

static void look_at(const struct ins_look *look, struct calls *ret)
{
	size_t i, n = ins_look_count(look);
	struct ins_fiber fiber;

	*ret = (struct calls){.age = -1};
	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &fiber);
		if (!waits(&fiber))
			continue;
		ret->count++;
		if (fiber.row.age > ret->age) {
			ret->age = fiber.row.age;
			ret->now = fiber.now;
			ret->longest = i;
		}
	}
}

/* How long the first call has waited for a thread; 0: none waits. */
static int64_t first_waits(const struct ins_look *look, const struct calls *calls)
{
	const struct fib_layout *layout = &look->source->layout;
	const int64_t since = (int64_t)layout->offload_since;

	if (!layout->offload_queued || since <= 0 || since > calls->now)
		return 0;
	return calls->now - since;
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	struct ins_finding *f;
	struct ins_fiber fiber;
	struct calls calls;
	size_t i, n = ins_look_count(look);

	if (look->halted || !look->source->layout.offload_queued)
		return 0;
	look_at(look, &calls);
	if (!calls.count || first_waits(look, &calls) < INS_LOOK_LONG)
		return 0;
	f = ins_findings_add(ret, &ins_rule_offload, INS_SLOW);
	if (!f)
		return -ENOMEM;
	f->fibers = f->weight = calls.count;
	f->subject = calls.longest;
	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &fiber);
		if (waits(&fiber))
			ins_sample_lowest(&f->ids, fiber.row.id);
	}
	return 0;
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	const struct fib_layout *layout = &look->source->layout;
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber longest;
	struct calls calls;

	look_at(look, &calls);
	ins_look_get(look, f->subject, &longest);
	ins_strbuf_text(&line, "all ");
	ins_strbuf_number(&line, layout->offload_threads);
	ins_strbuf_text(&line, " threads for blocking calls are busy: ");
	ins_look_say_count(&line, layout->offload_queued, "call waits", "calls wait");
	ins_strbuf_text(&line, " for one, the first for ");
	ins_duration_say(&line, first_waits(look, &calls));
	ins_collect_say(look, &longest, f);
	f->more[1] = "waits";
}

const struct ins_rule ins_rule_offload = {"offload",
					  "all threads for blocking calls are busy, and calls wait",
					  find, say, INS_NEEDS_ONE};
