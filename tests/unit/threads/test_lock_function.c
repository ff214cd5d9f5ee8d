/* SPDX-License-Identifier: MIT */
/* test_lock_function.c - the function of the C library, from the stack of a thread of the test */
#include <linux/futex.h>
#include <semaphore.h>

#include "inspect/source/source.h"
#include "inspect/threads/lock_function.h"
#include "inspect/unwind/thread_stack_walk.h"
#include "tests/harness/inspect/asleep.h"

static struct ins_source *source;
static struct ins_unwinder *unwinder;
static struct ins_symbols *symbols;
static struct asleep thread;

static int begin(void **state)
{
	struct ins_error error = {""};

	(void)state;
	assert_int_equal(ins_source_open_process(getpid(), &error, &source), 0);
	assert_int_equal(ins_unwinder_new(source, &unwinder), 0);
	return ins_symbols_new(source->modules, &symbols);
}

static int end(void **state)
{
	(void)state;
	ins_symbols_free(symbols);
	ins_unwinder_free(unwinder);
	ins_source_close(source);
	return 0;
}

/* The function that the thread sleeps in. */
static enum ins_lock_function function_of(enum ins_libc *ret)
{
	struct ins_thread_stack stack;
	struct ins_walk walk;
	const struct ins_sleeper sleeper = {.source = source, .symbols = symbols, .walk = &walk};
	enum ins_lock_function found;

	assert_int_equal(ins_thread_stack_read(source, thread.tid, &stack), 0);
	assert_int_equal(stack.state, FIB_WIRE_THREAD_SLEEPS);
	ins_thread_stack_walk(unwinder, &stack, &walk);
	found = ins_lock_function(&sleeper, ret);
	ins_thread_stack_free(&stack);
	return found;
}

static void expect(enum ins_lock_function wanted)
{
	enum ins_libc libc;

	assert_int_equal(function_of(&libc), wanted);
	assert_int_equal(libc, INS_LIBC_GLIBC);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;

static void lock(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
}

static void write_lock(void *arg)
{
	pthread_rwlock_wrlock(arg);
	pthread_rwlock_unlock(arg);
}

static void read_lock(void *arg)
{
	pthread_rwlock_rdlock(arg);
	pthread_rwlock_unlock(arg);
}

static void take(void *arg)
{
	sem_wait(arg);
}

static void test_a_mutex_is_recognized(void **state)
{
	(void)state;
	pthread_mutex_lock(&mutex);
	asleep_start(&thread, lock, &mutex, SYS_futex);
	expect(INS_LOCK_FUNCTION_MUTEX);
	pthread_mutex_unlock(&mutex);
	asleep_end(&thread);
}

static void test_a_robust_mutex_whose_function_jumped_is_recognized_by_the_call(void **state)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t robust;

	(void)state;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_mutex_lock(&robust);
	asleep_start(&thread, lock, &robust, SYS_futex);
	expect(INS_LOCK_FUNCTION_MUTEX);
	pthread_mutex_unlock(&robust);
	asleep_end(&thread);
}

static void test_both_sides_of_a_rwlock_are_recognized(void **state)
{
	(void)state;
	pthread_rwlock_wrlock(&rwlock);
	asleep_start(&thread, read_lock, &rwlock, SYS_futex);
	expect(INS_LOCK_FUNCTION_RWLOCK_READ);
	pthread_rwlock_unlock(&rwlock);
	asleep_end(&thread);
	pthread_rwlock_rdlock(&rwlock);
	asleep_start(&thread, write_lock, &rwlock, SYS_futex);
	expect(INS_LOCK_FUNCTION_RWLOCK_WRITE);
	pthread_rwlock_unlock(&rwlock);
	asleep_end(&thread);
}

static void test_a_semaphore_is_recognized(void **state)
{
	(void)state;
	sem_init(&sem, 0, 0);
	asleep_start(&thread, take, &sem, SYS_futex);
	expect(INS_LOCK_FUNCTION_SEM);
	sem_post(&sem);
	asleep_end(&thread);
}

static _Atomic uint32_t word;

static void wait_word(void *arg)
{
	while (!word)
		syscall(SYS_futex, arg, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void test_a_futex_of_the_program_itself_is_unknown(void **state)
{
	enum ins_libc libc;

	(void)state;
	asleep_start(&thread, wait_word, &word, SYS_futex);
	assert_int_equal(function_of(&libc), INS_LOCK_FUNCTION_UNKNOWN);
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	asleep_end(&thread);
}

/* In a lock of the C library itself the innermost function with a name counts, and not its caller. */
static void lock_while_locked(void *arg)
{
	(void)arg;
	flockfile(stderr);
	funlockfile(stderr);
}

static void test_a_lock_of_the_c_library_itself_is_unknown(void **state)
{
	enum ins_libc libc;

	(void)state;
	flockfile(stderr);
	asleep_start(&thread, lock_while_locked, NULL, SYS_futex);
	assert_int_equal(function_of(&libc), INS_LOCK_FUNCTION_UNKNOWN);
	funlockfile(stderr);
	asleep_end(&thread);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_mutex_is_recognized),
		cmocka_unit_test(
			test_a_robust_mutex_whose_function_jumped_is_recognized_by_the_call),
		cmocka_unit_test(test_both_sides_of_a_rwlock_are_recognized),
		cmocka_unit_test(test_a_semaphore_is_recognized),
		cmocka_unit_test(test_a_futex_of_the_program_itself_is_unknown),
		cmocka_unit_test(test_a_lock_of_the_c_library_itself_is_unknown),
	};

	return HEAD_RUN(tests, begin, end);
}
