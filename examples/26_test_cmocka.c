/* SPDX-License-Identifier: MIT */
/*
 * 26_test_cmocka.c - explored tests among the tests of cmocka
 *
 * Without arguments both tests pass. With "hasty" the second one fails: its reader does not wait.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

struct mailbox {
	struct fiber_event full;
	const char *letter;
};

static void *write_letter(void *arg)
{
	struct mailbox *box = arg;

	box->letter = "hello";
	fiber_event_set(&box->full);
	return NULL;
}

/* hasty: not NULL: only let the writer go first. Assertions of cmocka work in any fiber. */
static void read_letter(void *hasty)
{
	struct mailbox box = {.letter = NULL};
	struct fiber *writer;

	fiber_spawn(write_letter, &box, &writer);
	if (hasty)
		fiber_yield();
	else
		fiber_event_wait(&box.full, FIBER_FOREVER);
	assert_non_null(box.letter);
	fiber_join(writer, NULL, FIBER_FOREVER);
}

static void test_plain(void **state)
{
	(void)state;
	assert_false(fiber_test_running());
}

static void test_letter_arrives(void **state)
{
	const struct fiber_test_options options = {.size = sizeof options, .name = "letter"};

	fiber_test(read_letter, *state, &options);
}

int main(int argc, char *argv[])
{
	static char hasty[] = "hasty";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test_prestate(test_letter_arrives, argc > 1 ? hasty : NULL),
	};

	(void)argv;
	return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}
