/* SPDX-License-Identifier: MIT */
/* test_mutex_object.c - the holder of each kind of lock is known, or unknown, and never another */
#include <linux/futex.h>

#include "inspect/threads/mutex_object.h"
#include "tests/harness/inspect/asleep.h"

static struct ins_source source = {.memory = asleep_memory};
static const struct ins_sleeper sleeper = {.source = &source};

static uint64_t self(void)
{
	return (uint64_t)syscall(SYS_gettid);
}

/* The holder of a glibc mutex; asserts that the object is found at its start. */
static uint64_t holder_of(const pthread_mutex_t *mutex)
{
	const uint64_t at = (uint64_t)(uintptr_t)mutex;
	uint64_t holder = 7;

	assert_int_equal(ins_mutex_object(&sleeper, INS_LIBC_GLIBC, at, &holder), at);
	return holder;
}

static void expect_holder(const pthread_mutexattr_t *attr)
{
	pthread_mutex_t mutex;

	assert_int_equal(pthread_mutex_init(&mutex, attr), 0);
	assert_int_equal(holder_of(&mutex), 0);
	assert_int_equal(pthread_mutex_lock(&mutex), 0);
	assert_int_equal(holder_of(&mutex), self());
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	assert_int_equal(holder_of(&mutex), 0);
	assert_int_equal(pthread_mutex_destroy(&mutex), 0);
}

static void test_the_holder_of_a_mutex_of_every_type_is_known_while_it_is_held(void **state)
{
	static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				    PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
	pthread_mutexattr_t attr;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof types / sizeof types[0]; i++) {
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_settype(&attr, types[i]);
		expect_holder(&attr);
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
		expect_holder(&attr);
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
		expect_holder(&attr);
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_settype(&attr, types[i]);
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
		expect_holder(&attr);
	}
}

static bool checks_owner(int type, int protocol)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t mutex;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setprotocol(&attr, protocol);
	assert_int_equal(pthread_mutex_init(&mutex, &attr), 0);
	return ins_mutex_checks_owner(&sleeper, INS_LIBC_GLIBC, (uint64_t)(uintptr_t)&mutex);
}

static void test_which_mutexes_only_their_holder_can_release(void **state)
{
	(void)state;
	assert_false(checks_owner(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE));
	assert_false(checks_owner(PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE));
	assert_true(checks_owner(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE));
	assert_true(checks_owner(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE));
	assert_true(checks_owner(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT));
	assert_false(ins_mutex_checks_owner(&sleeper, INS_LIBC_GLIBC, 16));
}

static void test_a_robust_mutex_whose_holder_died_has_none(void **state)
{
	pthread_mutex_t mutex = {
		.__data = {.__lock = (int)(FUTEX_OWNER_DIED | 77), .__owner = 77, .__kind = 16}};

	(void)state;
	assert_int_equal(holder_of(&mutex), 0);
	mutex.__data.__lock = (int)(FUTEX_WAITERS | 77);
	assert_int_equal(holder_of(&mutex), 77);
	/* The holder has changed, and one of the two is old. */
	mutex.__data.__owner = 78;
	assert_int_equal(holder_of(&mutex), 0);
}

static void test_memory_that_is_no_mutex_has_no_holder(void **state)
{
	pthread_mutex_t mutex = {.__data = {.__lock = 2, .__owner = 77, .__kind = 0x12345}};
	uint64_t holder = 7;

	(void)state;
	assert_int_equal(holder_of(&mutex), 0);
	mutex.__data.__kind = 0;
	assert_int_equal(holder_of(&mutex), 77);
	mutex.__data.__owner = -77;
	assert_int_equal(holder_of(&mutex), 0);
	mutex.__data.__owner = 77;
	mutex.__data.__lock = 0;
	assert_int_equal(holder_of(&mutex), 0);
	assert_int_equal(ins_mutex_object(&sleeper, INS_LIBC_GLIBC, 16, &holder), 16);
	assert_int_equal(holder, 0);
	/* Another C library. */
	mutex.__data.__lock = 2;
	ins_mutex_object(&sleeper, INS_LIBC_UNKNOWN, (uint64_t)(uintptr_t)&mutex, &holder);
	assert_int_equal(holder, 0);
}

static void test_a_mutex_of_musl_has_its_futex_behind_its_type(void **state)
{
	uint32_t mutex[10] = {1, 0x80000000u | 55};
	const uint64_t at = (uint64_t)(uintptr_t)mutex;
	uint64_t holder = 7;

	(void)state;
	assert_int_equal(ins_mutex_object(&sleeper, INS_LIBC_MUSL, at + 4, &holder), at);
	assert_int_equal(holder, 55);
	/* The normal type has only a flag there. */
	mutex[0] = 0;
	mutex[1] = 0x80000010u;
	assert_int_equal(ins_mutex_object(&sleeper, INS_LIBC_MUSL, at + 4, &holder), at);
	assert_int_equal(holder, 0);
}

static void test_the_dead_owner_of_a_mutex_of_musl_is_unknown(void **state)
{
	uint32_t mutex[10] = {5, 0xc0000000u | 55};
	uint64_t holder = 7;

	(void)state;
	ins_mutex_object(&sleeper, INS_LIBC_MUSL, (uint64_t)(uintptr_t)mutex + 4, &holder);
	assert_int_equal(holder, 0);
}

/* A recursive mutex of musl whose owner is thread 55, with one waiter. */
static _Alignas(8) uint32_t good[10] = {1, 0x80000000u | 55, 1, 0, 0, 0, 64, 0, 72, 0};

static bool is_mutex(size_t at, uint32_t word)
{
	_Alignas(8) uint32_t mutex[10];
	uint64_t object = 0, holder = 0;
	bool is;

	memcpy(mutex, good, sizeof mutex);
	mutex[at] = word;
	is = ins_mutex_of_musl(&sleeper, (uint64_t)(uintptr_t)&mutex[1], good[1], &object, &holder);
	if (is) {
		assert_int_equal(object, (uint64_t)(uintptr_t)mutex);
		assert_int_equal(holder, 55);
	}
	return is;
}

static void test_a_mutex_of_musl_with_an_owner_is_known_by_its_contents(void **state)
{
	uint64_t object, holder;

	(void)state;
	assert_true(is_mutex(3, 2));
	assert_true(is_mutex(0, 0x80 | 4 | 2));
	assert_true(is_mutex(0, 4));
	/* The normal type, another word, no waiters, no list. */
	assert_false(is_mutex(0, 0));
	assert_false(is_mutex(0, 0x1234));
	assert_false(is_mutex(1, 0x80000000u | 56));
	assert_false(is_mutex(2, 0));
	assert_false(is_mutex(2, UINT32_MAX));
	assert_false(is_mutex(6, 0));
	assert_false(is_mutex(6, 65));
	assert_false(is_mutex(8, 65));
	assert_false(ins_mutex_of_musl(&sleeper, (uint64_t)(uintptr_t)&good[2], good[2], &object,
				       &holder));
	assert_false(ins_mutex_of_musl(&sleeper, 20, good[1], &object, &holder));
}

static void test_only_the_writer_of_a_rwlock_is_known(void **state)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	const uint64_t at = (uint64_t)(uintptr_t)&lock;
	uint64_t holder = 7;

	(void)state;
	assert_int_equal(ins_rwlock_object(&sleeper, INS_LIBC_GLIBC, at + 8, 2, &holder), at);
	assert_int_equal(holder, 0);
	pthread_rwlock_wrlock(&lock);
	assert_int_equal(ins_rwlock_object(&sleeper, INS_LIBC_GLIBC, at + 8, 3, &holder), at);
	assert_int_equal(holder, self());
	assert_int_equal(ins_rwlock_object(&sleeper, INS_LIBC_GLIBC, at + 12, 1, &holder), at);
	assert_int_equal(holder, self());
	pthread_rwlock_unlock(&lock);
	pthread_rwlock_rdlock(&lock);
	/* A reader waits in the first word: one reader, one that waits. */
	assert_int_equal(ins_rwlock_object(&sleeper, INS_LIBC_GLIBC, at, 1 << 3 | 4, &holder), at);
	assert_int_equal(holder, 0);
	pthread_rwlock_unlock(&lock);
	assert_int_equal(ins_rwlock_object(&sleeper, INS_LIBC_MUSL, at, 1, &holder), at);
	assert_int_equal(holder, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_the_holder_of_a_mutex_of_every_type_is_known_while_it_is_held),
		cmocka_unit_test(test_which_mutexes_only_their_holder_can_release),
		cmocka_unit_test(test_a_robust_mutex_whose_holder_died_has_none),
		cmocka_unit_test(test_memory_that_is_no_mutex_has_no_holder),
		cmocka_unit_test(test_a_mutex_of_musl_has_its_futex_behind_its_type),
		cmocka_unit_test(test_the_dead_owner_of_a_mutex_of_musl_is_unknown),
		cmocka_unit_test(test_a_mutex_of_musl_with_an_owner_is_known_by_its_contents),
		cmocka_unit_test(test_only_the_writer_of_a_rwlock_is_known),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
