/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_where.c - --where selects exactly the fibers for which it is true
 *
 * The fixtures print the truth: crowd about waits and holders, labels about labels.
 * test_fiberctl_numbers.c tests numbers.
 */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/list.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static int start(void **state)
{
	(void)state;
	return one_crowd("crowd", "240", "--stuck");
}

/* -- waits and holders, from crowd -- */

static bool waits(const struct crowd_member *m)
{
	return strcmp(m->kind, "created") && strcmp(m->kind, "dead") && strcmp(m->kind, "running");
}

static bool is_suspended(const struct crowd_member *m)
{
	return waits(m) && strcmp(m->kind, "yield");
}

static bool is_mutex(const struct crowd_member *m)
{
	return !strcmp(m->kind, "mutex");
}

static bool is_lock(const struct crowd_member *m)
{
	return is_mutex(m) || !strncmp(m->kind, "rwlock-", 7);
}

static bool is_running(const struct crowd_member *m)
{
	return !strcmp(m->kind, "running");
}

static bool is_held(const struct crowd_member *m)
{
	return strcmp(m->holder, "-") != 0;
}

static bool is_held_by_thread(const struct crowd_member *m)
{
	return !strncmp(m->holder, "thread:", 7);
}

static bool is_read(const struct crowd_member *m)
{
	return !strncmp(m->name, "fd-read-", 8);
}

static bool is_seventh(const struct crowd_member *m)
{
	return m->name[strlen(m->name) - 1] == '7';
}

static bool is_stopped(const struct crowd_member *m)
{
	return !waits(m) && !is_running(m);
}

static bool is_odd_one(const struct crowd_member *m)
{
	return (is_lock(m) && !is_held_by_thread(m)) || (is_read(m) && is_seventh(m));
}

static bool is_rwlock_or_mutex_but_seventh(const struct crowd_member *m)
{
	return !strncmp(m->kind, "rwlock-", 7) || (is_mutex(m) && !is_seventh(m));
}

static bool is_lock_but_not_seventh(const struct crowd_member *m)
{
	return is_lock(m) && !is_seventh(m);
}

static bool everyone(const struct crowd_member *m)
{
	return m != NULL;
}

static bool nobody(const struct crowd_member *m)
{
	return m == NULL;
}

static void test_where_selects_what_crowd_says(void **state)
{
	static const struct {
		const char *where;
		bool (*is)(const struct crowd_member *m);
	} rows[] = {
		{"state=suspended", is_suspended},
		{"state != suspended and state != runnable and not carrier", is_stopped},
		{"wait=mutex", is_mutex},
		{"wait", waits},
		{"not wait and not state=running", is_stopped},
		{"wait~^rwlock or wait=mutex", is_lock},
		{"holder", is_held},
		{"not not holder", is_held},
		{"holder>0", is_held},
		{"object=thread-lock or object=thread-once", is_held_by_thread},
		{"carrier", is_running},
		{"carrier=0 or carrier=1", is_running},
		{"fn~^stuck", is_running},
		{"fn=stuck_main and spawn=hold_carriers", is_running},
		{"fn~_main$", everyone},
		{"name~^fd-read-", is_read},
		{"name~7$", is_seventh},
		{"name~\"^fd-read-[0-9]+$\" and waiting~\" read$\"", is_read},
		{"wait~^rwlock or wait=mutex and not name~7$", is_rwlock_or_mutex_but_seventh},
		{"(wait~^rwlock or wait=mutex) and not name~7$", is_lock_but_not_seventh},
		{"(wait~lock or wait~^mutex) and not object=thread-lock or "
		 "(name~^fd-read and name~7$)",
		 is_odd_one},
		{"not parent", everyone},
		{"parent", nobody},
		{"parent=0", nobody},
		{"age<1d and age>=0 and switches>=0", everyone},
		{"age>1d", nobody},
		{"state=dead and wait", nobody},
		{"label.worker", nobody},
		{"label.worker!=1", nobody},
		{"id>=1", everyone},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		json_t *answer = list_where(pid, rows[k].where);
		size_t count = 0;

		for (size_t i = 0; i < crowd.count; i++) {
			const struct crowd_member *m = &crowd.members[i];
			const bool wanted = rows[k].is(m);

			count += wanted;
			if (wanted != (json_fiber(answer, m->id) != NULL))
				print_error("%s: %s\n", rows[k].where, m->name);
			assert_int_equal(json_fiber(answer, m->id) != NULL, wanted);
		}
		assert_int_equal(json_int(answer, "shown"), count);
		assert_int_equal(json_int(answer, "total"), crowd.count);
		json_decref(answer);
	}
}

static void test_where_selects_by_each_object_and_holder(void **state)
{
	char where[128];

	(void)state;
	for (size_t i = 0; i < crowd.count; i += 7) {
		const struct crowd_member *m = &crowd.members[i];
		const bool object = waits(m) && strcmp(m->object, "-") && strcmp(m->kind, "fd") &&
				    strcmp(m->kind, "join");
		json_t *answer;
		size_t count = 0;

		if (object)
			snprintf(where, sizeof(where), "object = \"%s\"", m->object);
		else if (is_held(m))
			snprintf(where, sizeof(where), "holder=%s", m->holder);
		else if (!strcmp(m->kind, "fd"))
			snprintf(where, sizeof(where), "fd=%s", m->object);
		else if (!strcmp(m->kind, "join"))
			snprintf(where, sizeof(where), "target=%s", m->object);
		else
			snprintf(where, sizeof(where), "name=%s", m->name);
		answer = list_where(pid, where);
		for (size_t k = 0; k < crowd.count; k++) {
			const struct crowd_member *const o = &crowd.members[k];
			const bool wanted =
				object	     ? !strcmp(o->object, m->object)
				: is_held(m) ? !strcmp(o->holder, m->holder)
				: m->object[0] != '-'
					? !strcmp(o->kind, m->kind) && !strcmp(o->object, m->object)
					: o == m;

			count += wanted;
			assert_int_equal(json_fiber(answer, o->id) != NULL, wanted);
		}
		assert_true(count >= 1);
		assert_int_equal(json_int(answer, "shown"), count);
		json_decref(answer);
	}
}

/*
 * Ages grow between the calls. A fiber that was old enough before must be selected; one that is too
 * young afterwards must not.
 */
static void test_where_selects_by_age(void **state)
{
	json_t *before = list_where(pid, "id"), *answer, *after;
	const json_int_t limit = json_int(json_fiber(before, crowd.members[100].id), "ageNs");
	char where[64];

	(void)state;
	snprintf(where, sizeof(where), "age>=%lldns", (long long)limit);
	answer = list_where(pid, where);
	after = list_where(pid, "id");
	assert_true(json_int(answer, "shown") > 0);
	for (size_t i = 0; i < crowd.count; i++) {
		const uint64_t id = crowd.members[i].id;

		if (json_int(json_fiber(before, id), "ageNs") >= limit)
			assert_non_null(json_fiber(answer, id));
		if (json_int(json_fiber(after, id), "ageNs") < limit)
			assert_null(json_fiber(answer, id));
	}
	json_decref(before);
	json_decref(answer);
	json_decref(after);
}

/* -- labels -- */

static void test_where_selects_by_labels(void **state)
{
	struct crowd labels = crowd_start(NULL, "labels", NULL, NULL);
	const char *const number = cli_number((uint64_t)labels.process->pid);
	json_t *answer;

	(void)state;
	answer = list_where(number, "label.worker");
	assert_int_equal(json_int(answer, "shown"), labels.count - 2);
	json_decref(answer);
	answer = list_where(number, "label.worker=5 and label.request=\"GET /5?a=b\"");
	assert_int_equal(json_int(answer, "shown"), 1);
	assert_non_null(json_fiber(answer, crowd_find(&labels, "park", "worker-5")->id));
	json_decref(answer);
	answer = list_where(number, "label.request~\"^GET /1[0-9]\" and name~^worker");
	assert_int_equal(json_int(answer, "shown"), 10);
	json_decref(answer);
	/* A fiber without labels also differs from 5. */
	answer = list_where(number, "label.worker!=5");
	assert_int_equal(json_int(answer, "shown"), labels.count - 3);
	json_decref(answer);
	answer = list_where(number, "not label.worker=5 and name~^worker");
	assert_int_equal(json_int(answer, "shown"), labels.count - 2);
	json_decref(answer);
	crowd_end(&labels);
}

/* Several --where options are each put in parentheses and joined by "and". */
static void test_where_given_several_times_is_all_of_them(void **state)
{
	static const char *const rows[][4] = {
		{"wait=mutex or wait~^rwlock", "name~7$", "id",
		 "(wait=mutex or wait~^rwlock) and name~7$"},
		{"name~7$", "wait~^rwlock or wait=mutex", "holder or id",
		 "name~7$ and (wait~^rwlock or wait=mutex)"},
		{"wait=mutex", "wait=sem", "id", "wait=mutex and wait=sem"},
		{"not wait", "not state=running", "not carrier", "not wait and not state=running"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *expected = list_where(pid, rows[i][3]), *answer, *fiber;
		size_t k;

		answer = json_well(cli_run("fiberctl", "list", pid, "-w", rows[i][0], "--json",
					   "--where", rows[i][1], "-w", rows[i][2], NULL));
		assert_int_equal(json_int(answer, "shown"), json_int(expected, "shown"));
		json_array_foreach (json_object_get(answer, "fibers"), k, fiber)
			assert_non_null(json_fiber(expected, (uint64_t)json_int(fiber, "id")));
		json_decref(answer);
		json_decref(expected);
	}
	/* A text that is no expression alone is not valid beside another one. */
	cli_expect_error(
		cli_run("fiberctl", "list", pid, "-w", "id=1) or (id=2", "-w", "id=3", NULL), 64,
		"fiberctl", "'and' or 'or' is missing at ') or (id=2'");
	cli_expect_error(cli_run("fiberctl", "list", pid, "-w", "id=1", "-w", "", NULL), 64,
			 "fiberctl", "a field is missing at the end");
}

/* Otherwise a user who mistypes a state would take "shown 0 of 100" as an answer. */
static void test_where_that_no_fiber_can_match_says_so(void **state)
{
	static const char *const commands[] = {"list", "stacks", "tree", "waits", "bt"};
	struct harness_process *p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		p = cli_run("fiberctl", commands[i], pid, "--where", "state=blocked",
			    strcmp(commands[i], "bt") == 0 ? "--all" : NULL, NULL);
		cli_expect(p, 1);
		assert_non_null(strstr(p->out.bytes,
				       "incomplete: --where: state: no fiber has 'blocked'; "
				       "there are: created, runnable, running, "));
		harness_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_selects_what_crowd_says),
		cmocka_unit_test(test_where_selects_by_each_object_and_holder),
		cmocka_unit_test(test_where_selects_by_age),
		cmocka_unit_test(test_where_selects_by_labels),
		cmocka_unit_test(test_where_given_several_times_is_all_of_them),
		cmocka_unit_test(test_where_that_no_fiber_can_match_says_so),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
