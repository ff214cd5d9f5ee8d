/* SPDX-License-Identifier: MIT */
/* test_guard_sizes.c - guards of every size, on kernels with and without guard advice */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "os/os.h"
#include "stack/pool.h"
#include "tests/harness/child.h"
#include "tests/harness/watchdog.h"

#define MANY 40000u /* more than the possible number of guards that split mappings */

static struct harness_child child;

static bool readable(const char *at)
{
	char byte;

	return fib_os_peek((uint64_t)(uintptr_t)at, &byte, 1) == 0;
}

static bool guarded(const struct fib_stack *s)
{
	const char *low = s->low;

	return readable(low) && !readable(low - 1) && !readable(low - fib_stack_guard(s));
}

static struct fib_stack take_of(size_t size, size_t guard)
{
	struct fib_stack s = {0};
	unsigned class;

	assert_int_equal(fib_stack_class(size, guard, &class, &size), 0);
	assert_int_equal(fib_stack_promise(NULL, class), 0);
	fib_stack_take_promised(NULL, class, &s);
	assert_int_equal(s.class, class);
	assert_int_equal(s.size, size);
	return s;
}

static void test_stack_has_the_guard_that_was_asked_for_and_never_anothers(void **state)
{
	static const size_t guards[][2] = {
		{0, FIB_STACK_GUARD},
		{1, 4096},
		{4096, 4096},
		{4097, 8192},
		{64 << 10, 64 << 10},
		{(64 << 10) + 1, 128 << 10},
		{1 << 20, 1 << 20},
		{9 << 20, 16 << 20},
		{FIB_GUARD_MAX, FIB_GUARD_MAX},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof guards / sizeof guards[0]; i++) {
		struct fib_stack s = take_of(FIB_STACK_MIN, guards[i][0]);
		const char *low = s.low;

		assert_int_equal(fib_stack_guard(&s), guards[i][1]);
		assert_true(readable(low));
		for (k = 1; k <= guards[i][1]; k += 4096)
			assert_false(readable(low - k));
		assert_false(readable(low - guards[i][1]));
		fib_stack_give(NULL, &s);
	}
	assert_int_equal(take_of(FIB_STACK_MIN, 1).class, take_of(FIB_STACK_MIN, 4096).class);
}

static void test_stack_with_another_guard_is_not_taken_from_a_cache(void **state)
{
	struct fib_stack_cache cache = {0};
	struct fib_stack small = take_of(FIB_STACK_DEFAULT, 4096), large;
	unsigned class;
	size_t size;

	(void)state;
	fib_stack_give(&cache, &small);
	assert_int_equal(fib_stack_class(FIB_STACK_DEFAULT, 1 << 20, &class, &size), 0);
	assert_int_equal(fib_stack_promise(&cache, class), 0);
	fib_stack_take_promised(&cache, class, &large);
	assert_int_equal(fib_stack_guard(&large), 1 << 20);
	assert_false(readable((char *)large.low - (1 << 20)));
	fib_stack_give(&cache, &large);
	fib_stack_flush(&cache);
}

/* Make this advice fail with EINVAL, as a kernel before 6.13 does. */
static bool forbid_guard_advice(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_madvise, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 102, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int take_many_of_an_older_kernel(void *arg)
{
	static struct fib_stack all[MANY];
	unsigned i, n;
	int rc = 0;

	(void)arg;
	if (!forbid_guard_advice())
		return 77;
	for (n = 0; n < MANY && rc == 0; n++)
		rc = fib_stack_take(NULL, FIB_STACK_MIN, &all[n]);
	if (rc < 0)
		n--;
	for (i = 0; i < n; i++)
		if (!guarded(&all[i]))
			return 2;
	/* Two mappings each, of the default limit of 65,530. */
	if (rc < 0)
		return rc == -ENOMEM && n > 30000 ? 0 : 3;
	return n == MANY ? 0 : 4;
}

static void test_stack_without_guard_advice_is_guarded_or_refused(void **state)
{
	(void)state;
	harness_child(take_many_of_an_older_kernel, NULL, 60, &child);
	if (child.code == 77) {
		print_message("# no filter of system calls can be set here\n");
		skip();
	}
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack_has_the_guard_that_was_asked_for_and_never_anothers),
		cmocka_unit_test(test_stack_with_another_guard_is_not_taken_from_a_cache),
		cmocka_unit_test(test_stack_without_guard_advice_is_guarded_or_refused),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
