/* SPDX-License-Identifier: MIT */
/* test_as_user.c - a command line that a shell takes, whatever the user is called */
#include <errno.h>
#include <pwd.h>

#include "inspect/text/as_user.h"
#include "tests/harness/inspect/head.h"

static const char *name;

/* In place of the C library's: the user of every number but 0 has that name. */
struct passwd *getpwuid(uid_t uid)
{
	static struct passwd user;

	user.pw_name = (char *)(uid ? name : "root");
	return user.pw_name ? &user : NULL;
}

static void test_a_user_is_named_and_root_needs_no_name(void **state)
{
	char buf[INS_AS_USER_SIZE];

	(void)state;
	program_invocation_short_name = (char *)"fiberctl";
	name = "www-data";
	assert_string_equal(ins_as_user(33, buf), "sudo -u www-data fiberctl ...");
	assert_string_equal(ins_as_user(0, buf), "sudo fiberctl ...");
}

static void test_a_user_without_a_plain_name_is_a_number(void **state)
{
	char buf[INS_AS_USER_SIZE];

	(void)state;
	name = NULL;
	assert_string_equal(ins_as_user(1234, buf), "sudo -u '#1234' fiberctl ...");
	name = "DOMAIN\\some one";
	assert_string_equal(ins_as_user(1234, buf), "sudo -u '#1234' fiberctl ...");
	name = "";
	assert_string_equal(ins_as_user(1234, buf), "sudo -u '#1234' fiberctl ...");
	name = "a-name-of-more-than-forty-characters-which-are-too-many";
	assert_string_equal(ins_as_user(1234, buf), "sudo -u '#1234' fiberctl ...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_user_is_named_and_root_needs_no_name),
		cmocka_unit_test(test_a_user_without_a_plain_name_is_a_number),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
