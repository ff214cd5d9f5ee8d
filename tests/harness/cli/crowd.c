/* SPDX-License-Identifier: MIT */
/* crowd.c - parse what the fixtures crowd and spin print about their fibers */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"

struct crowd crowd_start(const struct harness_how *how, const char *program, const char *first,
			 const char *second)
{
	return crowd_of(cli_start(how, "ready ", program, first, second, NULL));
}

struct crowd crowd_of(struct harness_process *process)
{
	struct crowd crowd = {.process = process};

	for (const char *at = crowd.process->out.bytes, *end; (end = strchr(at, '\n'));
	     at = end + 1) {
		struct crowd_member m = {0};

		if (sscanf(at, "%" SCNu64 "\t%23[^\t]\t%31[^\t]\t%31[^\t]\t%31[^\t\n]\t%" SCNd64,
			   &m.id, m.kind, m.object, m.holder, m.name, &m.since) < 5)
			continue;
		crowd.members = realloc(crowd.members, (crowd.count + 1) * sizeof(m));
		assert_non_null(crowd.members);
		crowd.members[crowd.count++] = m;
	}
	assert_true(crowd.count > 0);
	return crowd;
}

void crowd_agree(const struct crowd_member *m, const json_t *fiber)
{
	static const char *const states[] = {"created", "dead", "running"};
	const json_t *const wait = json_object_get(fiber, "wait");
	const char *state = strcmp(m->kind, "yield") ? "suspended" : "runnable";
	uint64_t tid;

	assert_string_equal(json_text(fiber, "name"), m->name);
	for (size_t i = 0; i < 3; i++)
		if (!strcmp(m->kind, states[i]))
			state = states[i];
	assert_string_equal(json_text(fiber, "state"), state);
	if (!strcmp(state, m->kind)) {
		assert_true(json_is_null(wait));
		return;
	}
	assert_string_equal(json_text(wait, "kind"), m->kind);
	if (!strcmp(m->kind, "join")) {
		assert_int_equal(json_int(wait, "targetId"), strtoull(m->object, NULL, 10));
	} else if (!strcmp(m->kind, "fd")) {
		assert_int_equal(json_int(wait, "fd"), strtoull(m->object, NULL, 10));
	} else if (strcmp(m->object, "-")) {
		assert_string_equal(json_text(wait, "objectName"), m->object);
		assert_string_not_equal(json_text(wait, "object"), "");
	}
	if (sscanf(m->holder, "thread:%" SCNu64, &tid) == 1) {
		assert_int_equal(json_int(wait, "holderThread"), tid);
		assert_true(json_is_null(json_object_get(wait, "holderId")));
	} else if (strcmp(m->holder, "-")) {
		assert_int_equal(json_int(wait, "holderId"), strtoull(m->holder, NULL, 10));
		assert_true(json_is_null(json_object_get(wait, "holderThread")));
	} else {
		assert_true(json_is_null(json_object_get(wait, "holderId")));
		assert_true(json_is_null(json_object_get(wait, "holderThread")));
	}
	/* These kinds of crowd wait with a deadline. */
	if (!strcmp(m->kind, "sleep") || !strcmp(m->kind, "sem") || !strcmp(m->kind, "timer"))
		assert_true(json_is_integer(json_object_get(wait, "deadlineNs")));
	else
		assert_true(json_is_null(json_object_get(wait, "deadlineNs")));
}

void crowd_end(struct crowd *crowd)
{
	harness_free(crowd->process);
	free(crowd->members);
	*crowd = (struct crowd){0};
}

const struct crowd_member *crowd_find(const struct crowd *crowd, const char *kind,
				      const char *prefix)
{
	for (size_t i = 0; i < crowd->count; i++)
		if (!strcmp(crowd->members[i].kind, kind) &&
		    !strncmp(crowd->members[i].name, prefix, strlen(prefix)))
			return &crowd->members[i];
	print_error("no %s named %s*\n", kind, prefix);
	fail();
	return NULL;
}

size_t crowd_count(const struct crowd *crowd, const char *kind)
{
	size_t n = 0;

	for (size_t i = 0; i < crowd->count; i++)
		n += !strcmp(crowd->members[i].kind, kind);
	return n;
}

/* Compare without the number: "fd-read-7" is of the same kind as "fd-read-18". */
static bool same_kind(const char *a, const char *b)
{
	const size_t length = (size_t)(strrchr(a, '-') - a) + 1;

	return !strncmp(a, b, length) && strrchr(b, '-') == b + length - 1;
}

size_t crowd_kinds(const struct crowd *crowd)
{
	size_t n = 0;

	for (size_t i = 0, k; i < crowd->count; i++) {
		for (k = 0; k < i; k++)
			if (same_kind(crowd->members[k].name, crowd->members[i].name))
				break;
		n += k == i;
	}
	return n;
}

bool crowd_walkable(const struct crowd_member *member)
{
	return strcmp(member->kind, "running") && strcmp(member->kind, "dead");
}

void crowd_walked(const struct crowd *crowd, const json_t *answer)
{
	for (size_t i = 0; i < crowd->count; i++) {
		const struct crowd_member *const m = &crowd->members[i];
		const json_t *const fiber = json_fiber(answer, m->id);

		if (!crowd_walkable(m))
			continue;
		assert_non_null(fiber);
		json_promise_fiber(fiber, true);
		assert_string_equal(json_text(fiber, "name"), m->name);
		assert_true(json_is_false(json_object_get(fiber, "truncated")));
		assert_true(json_array_size(json_object_get(fiber, "frames")) > 0);
		if (!strcmp(m->kind, "mutex"))
			assert_string_equal(json_text(json_object_get(fiber, "wait"), "objectName"),
					    m->object);
	}
}

#define OLD 1200000000 /* ns: a fiber that waits for itself must have waited for a second */

static bool are_old(void *arg)
{
	json_t *answer = json_well(cli_run("fiberctl", "list", arg, "--json", NULL)), *fiber;
	bool old = true;
	size_t i;

	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		old &= strcmp(json_text(fiber, "state"), "suspended") != 0 ||
		       json_int(fiber, "ageNs") >= OLD;
	json_decref(answer);
	return old;
}

void crowd_grow_old(const char *pid)
{
	assert_true(harness_until(are_old, (void *)(uintptr_t)pid, 60));
}
