/* SPDX-License-Identifier: MIT */
/* test_labels.c - labels over the control socket, from live memory and from a core */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static int start(void **state)
{
	(void)state;
	return one_crowd("labels", NULL, NULL);
}

/* The two labels are equal; the second may not be set yet. */
static void agree_changing(const json_t *labels)
{
	const char *const first = json_text(labels, "first"), *const second =
								      json_text(labels, "second");

	assert_true(json_object_size(labels) <= 2);
	assert_string_not_equal(first, "");
	assert_int_equal(strspn(first, (char[]){first[0], 0}), strlen(first));
	if (json_object_get(labels, "second"))
		assert_string_equal(first, second);
}

static void agree(const struct crowd_member *m, const json_t *labels)
{
	char wanted[64];
	unsigned i;

	assert_true(json_is_object(labels));
	if (!strcmp(m->name, "changing")) {
		agree_changing(labels);
		return;
	}
	assert_int_equal(sscanf(m->name, "worker-%u", &i), 1);
	assert_int_equal(json_object_size(labels), i ? 2 : 0);
	if (!i)
		return;
	snprintf(wanted, sizeof(wanted), "%u", i);
	assert_string_equal(json_text(labels, "worker"), wanted);
	snprintf(wanted, sizeof(wanted), "GET /%u?a=b", i);
	assert_string_equal(json_text(labels, "request"), wanted);
}

static void all_agree(struct harness_process *p, const char *source)
{
	json_t *answer = json_well(p);

	json_promise_answer(answer, source);
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), crowd.count);
	for (size_t i = 0; i < crowd.count; i++) {
		const json_t *const fiber = json_fiber(answer, crowd.members[i].id);

		assert_non_null(fiber);
		agree(&crowd.members[i], json_object_get(fiber, "labels"));
	}
	json_decref(answer);
}

static void test_labels_over_the_control_socket(void **state)
{
	const struct crowd_member *m = crowd_find(&crowd, "park", "worker-6");
	struct harness_process *p;
	json_t *answer;

	(void)state;
	for (int i = 0; i < 20; i++)
		all_agree(cli_run("fiberctl", "list", pid, "--json", NULL), "control");
	/* A fiber with its stack is sent in another type of frame. */
	p = cli_run("fiberctl", "bt", pid, cli_number(m->id), "--json", NULL);
	answer = json_well(p);
	agree(m, json_object_get(json_fiber(answer, m->id), "labels"));
	json_decref(answer);
}

static void test_labels_out_of_live_memory(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		all_agree(cli_run("fibertrace", pid, "--json", "--each", NULL), "live");
}

static void test_labels_out_of_a_core(void **state)
{
	char core[HARNESS_PATH];

	(void)state;
	/* A sanitizer's shadow makes a core of terabytes. */
	if (*harness_sanitizer())
		cli_skip("no cores of sanitizer builds");
	cli_core(crowd.process->pid, "labels", core);
	all_agree(cli_run("fibertrace", "--core", core, "--json", "--each", NULL), "core");
}

static void test_labels_of_one_fiber_for_people(void **state)
{
	const struct crowd_member *m = crowd_find(&crowd, "park", "worker-5");
	struct harness_process *p = cli_run("fiberctl", "show", pid, cli_number(m->id), NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "label        worker=5\n");
	cli_contains(p->out.bytes, "label        request=GET /5?a=b\n");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels_over_the_control_socket),
		cmocka_unit_test(test_labels_out_of_live_memory),
		cmocka_unit_test(test_labels_out_of_a_core),
		cmocka_unit_test(test_labels_of_one_fiber_for_people),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
