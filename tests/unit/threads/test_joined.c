/* SPDX-License-Identifier: MIT */
/* test_joined.c - the joined thread is found by its descriptor, whatever the futex in it has */
#include "inspect/threads/joined.h"

#include <elf.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inspect/elf/image.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/room.h"

#define LOW    UINT64_C(0x7f0000010000) /* of a page */
#define AT     (LOW + 0x6c0)		/* the descriptor */
#define STATE  (AT + 0x628)		/* a futex that is not the number */
#define NUMBER 720u

static struct ins_source source;
static const struct ins_sleeper sleeper = {.source = &source};
static struct room room;
static unsigned char page[4096];

static int memory(void *reader, uint64_t address, void *buf, size_t size)
{
	(void)reader;
	return room_read(&room, address, buf, size);
}

static void put(uint64_t address, const void *bytes, size_t size)
{
	memcpy(page + (address - LOW), bytes, size);
}

static void put_word(uint64_t address, uint64_t word)
{
	put(address, &word, sizeof word);
}

static int begin(void **state)
{
	const uint32_t tid = 4711, joinable = 2;

	(void)state;
	if (ins_machine_self() != EM_X86_64)
		skip();
	source = (struct ins_source){.memory = memory};
	memset(&room, 0, sizeof room);
	memset(page, 0, sizeof page);
	put_word(AT, AT);
	put_word(AT + 16, AT);
	put(AT + NUMBER, &tid, sizeof tid);
	put(STATE, &joinable, sizeof joinable);
	room_add(&room, LOW, page, sizeof page);
	return 0;
}

static void test_the_number_is_that_of_the_descriptor(void **state)
{
	(void)state;
	/* The number itself is the futex, or a state is. */
	assert_int_equal(ins_joined(&sleeper, AT + NUMBER, 4711), 4711);
	assert_int_equal(ins_joined(&sleeper, STATE, 2), 4711);
}

static void test_a_futex_that_has_changed_is_no_wait(void **state)
{
	(void)state;
	assert_int_equal(ins_joined(&sleeper, STATE, 3), 0);
	assert_int_equal(ins_joined(&sleeper, AT + NUMBER, 4712), 0);
}

static void test_without_a_descriptor_the_thread_is_unknown(void **state)
{
	(void)state;
	put_word(AT + 16, AT + 16);
	assert_int_equal(ins_joined(&sleeper, AT + NUMBER, 4711), 0);
	put_word(AT + 16, AT);
	put_word(AT, 0);
	assert_int_equal(ins_joined(&sleeper, STATE, 2), 0);
}

static void test_memory_that_cannot_be_read_is_unknown(void **state)
{
	(void)state;
	room.pieces = 0;
	assert_int_equal(ins_joined(&sleeper, STATE, 2), 0);
	assert_int_equal(ins_joined(&sleeper, 0, 0), 0);
	assert_int_equal(ins_joined(&sleeper, 100, 0), 0);
}

/* The descriptors of this C library. */
static int own_memory(void *reader, uint64_t address, void *buf, size_t size)
{
	(void)reader;
	memcpy(buf, (const void *)(uintptr_t)address, size);
	return 0;
}

static void *stay(void *arg)
{
	_Atomic uint32_t *tid = arg;

	*tid = (uint32_t)syscall(SYS_gettid);
	while (*tid)
		usleep(1000);
	return NULL;
}

static void test_this_c_library_has_the_number_there(void **state)
{
	_Atomic uint32_t tid = 0;
	pthread_t thread;

	(void)state;
	source.memory = own_memory;
	assert_int_equal(pthread_create(&thread, NULL, stay, (void *)&tid), 0);
	while (!tid)
		usleep(1000);
	assert_int_equal(ins_joined(&sleeper, thread + NUMBER, tid), tid);
	tid = 0;
	assert_int_equal(pthread_join(thread, NULL), 0);
}

#define EACH(test) cmocka_unit_test_setup(test, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_the_number_is_that_of_the_descriptor),
		EACH(test_a_futex_that_has_changed_is_no_wait),
		EACH(test_without_a_descriptor_the_thread_is_unknown),
		EACH(test_memory_that_cannot_be_read_is_unknown),
		EACH(test_this_c_library_has_the_number_there),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
