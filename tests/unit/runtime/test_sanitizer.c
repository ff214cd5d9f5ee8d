/* SPDX-License-Identifier: MIT */
/* test_sanitizer.c - if a sanitizer is not notified of switches, the report says what to link */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/compiler.h"
#include "context/context.h"
#include "runtime/sanitizer.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"

static char said[1024];

/* Report with stderr captured in a buffer. */
static bool report(const struct fib_sanitizer sanitizers[], size_t n, const char *announced)
{
	int ends[2], kept = dup(STDERR_FILENO);
	ssize_t size;
	bool reported;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	dup2(ends[1], STDERR_FILENO);
	reported = fib_sanitizer_report(sanitizers, n, announced);
	dup2(kept, STDERR_FILENO);
	size = recv(ends[0], said, sizeof said - 1, MSG_DONTWAIT);
	said[size < 0 ? 0 : size] = 0;
	close(kept);
	close(ends[0]);
	close(ends[1]);
	return reported;
}

static void test_sanitizer_unknown_is_reported_with_the_library_to_link(void **state)
{
	const struct fib_sanitizer sanitizers[] = {
		{"AddressSanitizer", false, "libfiber-asan"},
		{"ThreadSanitizer", true, "libfiber-tsan"},
	};

	(void)state;
	assert_true(report(sanitizers, fib_countof(sanitizers), NULL));
	assert_string_equal(
		said,
		"libfiber: this program has ThreadSanitizer inside and this libfiber does not "
		"know it: link libfiber-tsan (pkg-config libfiber-tsan); see man "
		"libfiber-sanitizers\n");
	assert_true(report(sanitizers, fib_countof(sanitizers), "AddressSanitizer"));
}

static void test_sanitizer_without_a_library_is_reported(void **state)
{
	const struct fib_sanitizer sanitizers[] = {{"MemorySanitizer", true, NULL}};

	(void)state;
	assert_true(report(sanitizers, 1, NULL));
	assert_non_null(strstr(said, "MemorySanitizer inside, which no libfiber knows"));
}

static void test_sanitizer_known_or_absent_is_not_reported(void **state)
{
	const struct fib_sanitizer sanitizers[] = {
		{"AddressSanitizer", true, "libfiber-asan"},
		{"ThreadSanitizer", false, "libfiber-tsan"},
	};

	(void)state;
	assert_false(report(sanitizers, 2, "AddressSanitizer"));
	assert_false(report(&sanitizers[1], 1, NULL));
	assert_string_equal(said, "");
}

static void test_sanitizer_of_this_build_is_announced_to(void **state)
{
	const char *announced = fib_context_announced();

	(void)state;
	if (!strcmp(harness_sanitizer(), "address"))
		assert_string_equal(announced, "AddressSanitizer");
	else if (!strcmp(harness_sanitizer(), "thread"))
		assert_string_equal(announced, "ThreadSanitizer");
	else
		assert_null(announced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sanitizer_unknown_is_reported_with_the_library_to_link),
		cmocka_unit_test(test_sanitizer_without_a_library_is_reported),
		cmocka_unit_test(test_sanitizer_known_or_absent_is_not_reported),
		cmocka_unit_test(test_sanitizer_of_this_build_is_announced_to),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
