/* SPDX-License-Identifier: MIT */
/* test_answer.c - answers about the process, the layout of its records and its mappings */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "records.h"
#include "service/answer.h"
#include "talk.h"
#include "tests/harness/watchdog.h"

static struct talk t;

static void test_answer_preface_is_process_layout_and_maps(void **state)
{
	char *maps = calloc(1, 1 << 20);
	const struct fib_wire_process *p;
	struct fib_layout layout;
	const void *payload;
	size_t length, used = 0;
	unsigned type;

	(void)state;
	fib_registry_init();
	fib_answer_introduce("the name", FIB_WIRE_ADMIN);
	assert_int_equal(fib_answer_mode(), FIB_WIRE_ADMIN);
	talk_begin(&t);
	t.peer.cursor.wanted = FIB_WIRE_WANT_MAPS;
	while (!fib_answer_preface(&t.peer, 4711))
		talk_turn(&t);
	talk_run(&t);

	assert_int_equal(talk_frame(&t, &payload, &length), FIB_WIRE_PROCESS);
	p = payload;
	assert_int_equal(p->pid, getpid());
	assert_int_equal(p->mode, FIB_WIRE_ADMIN);
	assert_int_equal(p->now, 4711);
	assert_string_equal(p->name, "the name");

	assert_int_equal(talk_frame(&t, &payload, &length), FIB_WIRE_LAYOUT);
	assert_int_equal(length, sizeof layout);
	memcpy(&layout, payload, sizeof layout);
	assert_null(fib_layout_check(&layout));
	assert_int_equal(layout.records, (uintptr_t)fib_registry_at(0));

	while ((type = talk_frame(&t, &payload, &length))) {
		assert_int_equal(type, FIB_WIRE_MAPS);
		memcpy(maps + used, payload, length);
		used += length;
	}
	assert_non_null(strstr(maps, "[stack]\n"));
	assert_non_null(strstr(maps, " r-xp "));
	assert_int_equal(t.peer.cursor.mapped, used);
	free(maps);
	talk_end(&t);
}

static void test_answer_name_that_is_too_long_is_cut(void **state)
{
	char name[200];
	const struct fib_wire_process *p;
	size_t length;

	(void)state;
	memset(name, 'n', sizeof name);
	name[sizeof name - 1] = 0;
	fib_answer_introduce(name, FIB_WIRE_RO);
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_HELLO, NULL, 0);
	talk_run(&t);
	p = talk_find(&t, FIB_WIRE_PROCESS, &length);
	assert_non_null(p);
	assert_int_equal(strnlen(p->name, sizeof p->name), sizeof p->name - 1);
	talk_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_preface_is_process_layout_and_maps),
		cmocka_unit_test(test_answer_name_that_is_too_long_is_cut),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
