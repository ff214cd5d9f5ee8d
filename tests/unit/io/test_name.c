/* SPDX-License-Identifier: MIT */
/*
 * test_name.c - names are resolved on other threads, deadlines hold, abandoned lookups leak nothing
 *
 * This program defines getaddrinfo() and freeaddrinfo(), and the library linked into it calls them.
 * A name server that never answers is a gate that stays shut.
 */
#include "inside.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/atomic.h"
#include "io/name.h"
#include "life/offload.h"
#include "os/os.h"
#include "tests/harness/child.h"

typedef int find_fn(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static find_fn *real_getaddrinfo;
static void (*real_freeaddrinfo)(struct addrinfo *);

static _Atomic uint32_t gate;	 /* futex; 1: open */
static _Atomic uint32_t looking; /* lookups in progress */
static _Atomic uint32_t looked;	 /* lookups done so far */
static _Atomic uint32_t lists;	 /* results not freed yet */
static _Atomic uint32_t tid;	 /* thread of the latest lookup */
static pthread_mutex_t last_lock = PTHREAD_MUTEX_INITIALIZER;
static char last[64]; /* the latest name and its service */

static void shut(void)
{
	fib_store_release(&gate, 0);
}

static void open_gate(void)
{
	fib_store_release(&gate, 1);
	fib_os_futex_wake(&gate, INT32_MAX);
}

/* "error-N": EAI_ number -N; "errno-N": EAI_SYSTEM. Every other name has the address 127.0.0.9. */
static int answer_for(const char *node, const struct addrinfo *hints, struct addrinfo **ret)
{
	const struct addrinfo numeric = {.ai_flags = AI_NUMERICHOST,
					 .ai_socktype = hints->ai_socktype};
	int n;

	if (sscanf(node, "error-%d", &n) == 1)
		return -n;
	if (sscanf(node, "errno-%d", &n) == 1) {
		errno = n;
		return EAI_SYSTEM;
	}
	return real_getaddrinfo("127.0.0.9", NULL, &numeric, ret);
}

/* "hangs": wait until the gate opens, and read the arguments only then. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret)
{
	int rc;

	if (hints->ai_flags & AI_NUMERICHOST) {
		rc = real_getaddrinfo(node, service, hints, ret);
		fib_add(&lists, rc == 0);
		return rc;
	}
	fib_store(&tid, fib_os_tid());
	fib_add(&looking, 1);
	while (strstr(node, "hangs") && !fib_load_acquire(&gate))
		fib_os_futex_wait(&gate, 0, INT64_MAX);
	pthread_mutex_lock(&last_lock);
	if (!strstr(node, "last"))
		snprintf(last, sizeof last, "%s %s", node, service ? service : "-");
	pthread_mutex_unlock(&last_lock);
	fib_sub(&looking, 1);
	rc = answer_for(node, hints, ret);
	fib_add(&lists, rc == 0);
	fib_add(&looked, 1);
	return rc;
}

void freeaddrinfo(struct addrinfo *list)
{
	fib_sub(&lists, 1);
	real_freeaddrinfo(list);
}

struct query {
	const char *node, *service;
	const struct addrinfo *hints;
	int64_t deadline;
	struct addrinfo *found;
};

static void *do_find(void *arg)
{
	struct query *q = arg;

	return (void *)(intptr_t)fiber_getaddrinfo(q->node, q->service, q->hints, &q->found,
						   q->deadline);
}

static uint32_t address_of(const struct addrinfo *list)
{
	return ntohl(((const struct sockaddr_in *)(const void *)list->ai_addr)->sin_addr.s_addr);
}

static void await(_Atomic uint32_t *word, uint32_t value)
{
	while (fib_load_acquire(word) != value)
		sched_yield();
}

static void *find_and_note_thread(void *arg)
{
	intptr_t rc = (intptr_t)do_find(arg);

	return (void *)(rc == 0 ? fib_load(&tid) == fib_os_tid() : rc);
}

static void test_name_is_looked_up_on_another_thread(void **state)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct query q = {"one.test", "http", &hints, FIBER_FOREVER, NULL};

	(void)state;
	assert_int_equal(inside(find_and_note_thread, &q), 0);
	assert_string_equal(last, "one.test http");
	assert_int_equal(address_of(q.found), INADDR_LOOPBACK + 8);
	assert_int_equal(q.found->ai_socktype, SOCK_STREAM);
	freeaddrinfo(q.found);
	assert_int_equal(on_a_thread(find_and_note_thread, &q), 0);
	freeaddrinfo(q.found);
	/* The caller does not want the result. */
	assert_int_equal(fiber_getaddrinfo("two.test", NULL, NULL, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fib_load(&lists), 0);
}

static void test_name_that_is_a_number_needs_no_thread_and_no_time(void **state)
{
	static const char *const numbers[] = {"127.0.0.1", "::1", "10.1.2.3", NULL};
	uint32_t before = fib_load(&looked);
	unsigned threads = fib_offload_threads();

	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		struct query q = {numbers[i], "80", NULL, 0, NULL};

		assert_int_equal(inside(do_find, &q), 0);
		freeaddrinfo(q.found);
		assert_int_equal(on_a_thread(do_find, &q), 0);
		freeaddrinfo(q.found);
	}
	/* A name that is not numeric frees nothing with AI_NUMERICHOST either. */
	{
		const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
		struct query q = {"one.test", NULL, &hints, FIBER_FOREVER, NULL};

		assert_int_equal(inside(do_find, &q), -ENOENT);
		q = (struct query){NULL, NULL, NULL, FIBER_FOREVER, NULL};
		assert_int_equal(inside(do_find, &q), -ENOENT);
	}
	assert_int_equal(fib_load(&looked), before);
	assert_true(fib_offload_threads() <= threads);
	assert_int_equal(fib_load(&lists), 0);
}

static void test_name_errors_are_told_apart(void **state)
{
	static const struct {
		int eai, rc;
	} errors[] = {
		{EAI_NONAME, -ENOENT},
		{EAI_NODATA, -ENODATA},
		{EAI_ADDRFAMILY, -EADDRNOTAVAIL},
		{EAI_AGAIN, -EAGAIN},
		{EAI_FAIL, -EIO},
		{EAI_FAMILY, -EAFNOSUPPORT},
		{EAI_SOCKTYPE, -ESOCKTNOSUPPORT},
		{EAI_SERVICE, -EPROTONOSUPPORT},
		{EAI_BADFLAGS, -EINVAL},
		{EAI_MEMORY, -ENOMEM},
		{EAI_OVERFLOW, -EOVERFLOW},
		{EAI_IDN_ENCODE, -EILSEQ},
		{-4711, -EPROTO},
	};
	static const int numbers[][2] = {
		{EMFILE, -EMFILE}, {ENETDOWN, -ENETDOWN}, {ETIMEDOUT, -EAGAIN}, {0, -EIO}};
	char node[32];
	struct query q = {node, NULL, NULL, FIBER_FOREVER, NULL};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof errors / sizeof errors[0]; i++) {
		snprintf(node, sizeof node, "error-%d", -errors[i].eai);
		assert_int_equal(inside(do_find, &q), errors[i].rc);
		for (k = 0; k < i; k++)
			assert_true(errors[k].rc != errors[i].rc);
	}
	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		snprintf(node, sizeof node, "errno-%d", numbers[i][0]);
		assert_int_equal(inside(do_find, &q), numbers[i][1]);
	}
	assert_null(q.found);
}

/* Use every place once: then all earlier lookups have ended, also those that started late. */
static void await_all_lookups(void)
{
	struct query q[FIB_NAME_LOOKUPS_MAX];
	struct fiber *f[FIB_NAME_LOOKUPS_MAX];

	await(&looking, 0);
	shut();
	for (int i = 0; i < (int)FIB_NAME_LOOKUPS_MAX; i++) {
		q[i] = (struct query){"hangs.last", NULL, NULL, FIBER_FOREVER, NULL};
		f[i] = inside_spawn(do_find, &q[i]);
	}
	await(&looking, FIB_NAME_LOOKUPS_MAX);
	await(&lists, 0);
	open_gate();
	for (int i = 0; i < (int)FIB_NAME_LOOKUPS_MAX; i++) {
		assert_int_equal(inside_join(f[i]), 0);
		freeaddrinfo(q[i].found);
	}
}

/* The caller's arguments may be gone by then: the lookup has a copy. */
static void test_name_lookup_outlives_its_waiter_and_frees_what_it_finds(void **state)
{
	char node[] = "hangs.test", service[] = "smtp";
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
	struct query q = {node, service, &hints, 0, NULL};
	struct fiber *f;

	(void)state;
	shut();
	q.deadline = fiber_after(3 * MS);
	assert_int_equal(inside(do_find, &q), -ETIMEDOUT);
	assert_true(fiber_now() >= q.deadline);
	q.deadline = fiber_after(3 * MS);
	assert_int_equal(on_a_thread(do_find, &q), -ETIMEDOUT);
	q.deadline = FIBER_FOREVER;
	f = inside_spawn(do_find, &q);
	while (fiber_state(f) != FIBER_SUSPENDED)
		sched_yield();
	fiber_cancel(f);
	assert_int_equal(inside_join_cancelled(f), -ECANCELED);
	memset(node, 'x', sizeof node - 1);
	memset(service, 'x', sizeof service - 1);
	memset(&hints, 0xff, sizeof hints);
	open_gate();
	await_all_lookups();
	assert_string_equal(last, "hangs.test smtp");
	assert_null(q.found);
}

static void *cancelled_before(void *arg)
{
	return as_cancelled(do_find, arg);
}

static void test_name_without_time_is_not_looked_up(void **state)
{
	struct query q = {"one.test", NULL, NULL, 0, NULL};
	uint32_t before = fib_load(&looked);

	(void)state;
	assert_int_equal(inside(do_find, &q), -ETIMEDOUT);
	assert_int_equal(on_a_thread(do_find, &q), -ETIMEDOUT);
	q.deadline = FIBER_FOREVER;
	assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_before, &q)), -ECANCELED);
	assert_int_equal(fib_load(&looked), before);
}

static void *answer(void *arg)
{
	return arg;
}

static void *block(void *arg)
{
	void *ret = NULL;

	return (void *)(intptr_t)(fiber_block(answer, arg, &ret, FIBER_FOREVER) < 0 || ret != arg);
}

static void test_name_lookups_that_hang_return_and_leave_threads_to_others(void **state)
{
	enum { MANY = 2 * FIB_OFFLOAD_THREADS_MAX };
	struct query q[MANY], last_one = {"one.test", NULL, NULL, FIBER_FOREVER, NULL};
	uint32_t before = fib_load(&looked);
	struct fiber *f[MANY], *later;

	(void)state;
	shut();
	for (int i = 0; i < MANY; i++) {
		q[i] = (struct query){"hangs.test", NULL, NULL, FIBER_FOREVER, NULL};
		if (i >= (int)FIB_NAME_LOOKUPS_MAX)
			q[i].deadline = fiber_after(5 * MS);
		f[i] = inside_spawn(do_find, &q[i]);
		if (i == FIB_NAME_LOOKUPS_MAX - 1)
			await(&looking, FIB_NAME_LOOKUPS_MAX);
	}
	/* More lookups than threads hang in the name server. Those with a deadline return ... */
	for (int i = FIB_NAME_LOOKUPS_MAX; i < MANY; i++)
		assert_int_equal(inside_join(f[i]), -ETIMEDOUT);
	/* ... other calls get a thread as usual ... */
	assert_int_equal(inside(block, &q), 0);
	assert_int_equal(fib_load(&looking), FIB_NAME_LOOKUPS_MAX);
	for (int i = 0; i < (int)FIB_NAME_LOOKUPS_MAX; i++) {
		fiber_cancel(f[i]);
		assert_int_equal(inside_join_cancelled(f[i]), -ECANCELED);
	}
	/* ... and a queued lookup starts as soon as one ends. */
	later = inside_spawn(do_find, &last_one);
	while (fiber_state(later) != FIBER_SUSPENDED)
		sched_yield();
	open_gate();
	assert_int_equal(inside_join(later), 0);
	freeaddrinfo(last_one.found);
	await(&looked, before + FIB_NAME_LOOKUPS_MAX + 1);
	await(&lists, 0);
}

static int find_in_child(void *arg)
{
	(void)arg;
	return fiber_getaddrinfo("one.test", NULL, NULL, NULL, fiber_after(60000 * MS)) < 0;
}

static void test_name_lookups_of_a_parent_take_no_place_from_its_child(void **state)
{
	struct query q[FIB_NAME_LOOKUPS_MAX];
	struct fiber *f[FIB_NAME_LOOKUPS_MAX];
	struct harness_child child;

	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	skip(); /* sanitizers: no threads in a child of a program with threads */
#endif
	shut();
	for (int i = 0; i < (int)FIB_NAME_LOOKUPS_MAX; i++) {
		q[i] = (struct query){"hangs.test", NULL, NULL, FIBER_FOREVER, NULL};
		f[i] = inside_spawn(do_find, &q[i]);
	}
	await(&looking, FIB_NAME_LOOKUPS_MAX);
	harness_child(find_in_child, NULL, 90, &child);
	open_gate();
	for (int i = 0; i < (int)FIB_NAME_LOOKUPS_MAX; i++) {
		assert_int_equal(inside_join(f[i]), 0);
		freeaddrinfo(q[i].found);
	}
	assert_int_equal(child.code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name_is_looked_up_on_another_thread),
		cmocka_unit_test(test_name_that_is_a_number_needs_no_thread_and_no_time),
		cmocka_unit_test(test_name_errors_are_told_apart),
		cmocka_unit_test(test_name_lookup_outlives_its_waiter_and_frees_what_it_finds),
		cmocka_unit_test(test_name_without_time_is_not_looked_up),
		cmocka_unit_test(test_name_lookups_that_hang_return_and_leave_threads_to_others),
		cmocka_unit_test(test_name_lookups_of_a_parent_take_no_place_from_its_child),
	};

	*(void **)&real_getaddrinfo = dlsym(RTLD_NEXT, "getaddrinfo");
	*(void **)&real_freeaddrinfo = dlsym(RTLD_NEXT, "freeaddrinfo");
	if (!real_getaddrinfo || !real_freeaddrinfo)
		return 1;
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
