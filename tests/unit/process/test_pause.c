/* SPDX-License-Identifier: MIT */
/* test_pause.c - a thread is stopped for a copy, continues, and loses no stop or signal */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/process/pause.h"

#define STACK (256u << 10)

/* Shared between the child and the test. */
static struct shared {
	_Atomic unsigned long rounds;
	_Atomic unsigned signals;
	uint64_t record;
	_Atomic uint64_t here; /* an address on the child's own stack */
} * shared;

static struct ins_memory memory;
static struct ins_pauses count;
static unsigned char record[8];

static void on_signal(int number)
{
	(void)number;
	shared->signals++;
}

static __attribute__((noipa)) void spin(void)
{
	volatile uint64_t mark = UINT64_C(0x1122334455667788);

	shared->here = (uint64_t)(uintptr_t)&mark;
	for (;;)
		shared->rounds++;
}

static pid_t child(void)
{
	pid_t pid;

	shared->here = 0;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGUSR1, on_signal);
		spin();
	}
	while (!shared->here)
		usleep(1000);
	memory = (struct ins_memory){.pid = pid, .file = -1};
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Prepare a pause for the child, whose stack is assumed to be around the mark. */
static struct ins_pause pause_of(pid_t pid)
{
	struct ins_pause p = {
		.memory = &memory,
		.tid = pid,
		.record = (uint64_t)(uintptr_t)&shared->record,
		.record_size = sizeof record,
		.stack_low = shared->here - 4096,
		.stack_size = 4096 + 64,
		.to_record = record,
	};

	p.bytes = malloc(ins_pause_room(p.stack_size));
	assert_non_null(p.bytes);
	return p;
}

static void goes_on(void)
{
	const unsigned long before = shared->rounds;

	for (int i = 0; i < 10000 && shared->rounds == before; i++)
		usleep(1000);
	assert_true(shared->rounds != before);
}

static void test_registers_record_and_stack_are_copied_and_it_goes_on(void **state)
{
	const pid_t pid = child();
	struct ins_pause p = pause_of(pid);
	uint64_t word;

	(void)state;
	memset(&count, 0, sizeof count);
	shared->record = 4711;
	for (unsigned i = 1; i <= 100; i++) {
		memset(record, 0, sizeof record);
		assert_int_equal(ins_pause(&p, &count), INS_PAUSE_TAKEN);
		assert_memory_equal(record, &shared->record, sizeof record);
		assert_true(p.registers.pc != 0 && __builtin_popcount(p.registers.known) >= 15);
		assert_true(p.registers.sp >= p.stack_low &&
			    p.registers.sp <= p.stack_low + p.stack_size);
		/* The copy reaches from below sp to the end. */
		assert_true(p.low < p.registers.sp);
		assert_int_equal(p.low + p.size, p.stack_low + p.stack_size);
		memcpy(&word, p.bytes + (shared->here - p.low), sizeof word);
		assert_true(word == UINT64_C(0x1122334455667788));
		assert_int_equal(count.threads, i);
	}
	assert_true(count.longest_ns > 0 && count.longest_ns <= count.total_ns);
	goes_on();
	free(p.bytes);
	end(pid);
}

static void test_one_on_another_stack_is_elsewhere_unless_that_is_wanted_too(void **state)
{
	const pid_t pid = child();
	struct ins_pause p = pause_of(pid);

	(void)state;
	p.stack_low = (uint64_t)(uintptr_t)shared;
	p.stack_size = sizeof *shared;
	assert_int_equal(ins_pause(&p, &count), INS_PAUSE_ELSEWHERE);
	assert_true(p.registers.sp != 0);
	/* A word on the thread's own stack points to the other stack, as a signal frame would. */
	p.aside = true;
	assert_int_equal(ins_pause(&p, &count), INS_PAUSE_TAKEN);
	assert_true(p.aside_size > 0 && p.aside_low < p.registers.sp);
	assert_int_equal(p.low, p.stack_low);
	assert_int_equal(p.size, p.stack_size);
	/* No word points to this stack. */
	p.stack_low = 0x10000;
	assert_int_equal(ins_pause(&p, &count), INS_PAUSE_ELSEWHERE);
	goes_on();
	free(p.bytes);
	end(pid);
}

static void test_signals_that_come_meanwhile_are_all_taken(void **state)
{
	const pid_t pid = child();
	struct ins_pause p = pause_of(pid);

	(void)state;
	p.stack_low -= STACK;
	p.stack_size += STACK;
	free(p.bytes);
	p.bytes = malloc(ins_pause_room(p.stack_size));
	shared->signals = 0;
	for (unsigned i = 1; i <= 200; i++) {
		kill(pid, SIGUSR1);
		ins_pause(&p, &count);
		for (int k = 0; k < 10000 && shared->signals < i; k++)
			usleep(1000);
		assert_int_equal(shared->signals, i);
	}
	goes_on();
	free(p.bytes);
	end(pid);
}

static void test_who_is_stopped_stays_stopped(void **state)
{
	const pid_t pid = child();
	struct ins_pause p = pause_of(pid);
	unsigned long before;
	int status;

	(void)state;
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	before = shared->rounds;
	assert_int_equal(ins_pause(&p, &count), INS_PAUSE_TAKEN);
	assert_int_equal(ins_pause(&p, &count), INS_PAUSE_TAKEN);
	assert_true(shared->rounds == before);
	kill(pid, SIGCONT);
	goes_on();
	free(p.bytes);
	end(pid);
}

static void test_who_may_not_be_stopped_or_is_gone_is_told(void **state)
{
	const struct ins_pauses none = {0};
	pid_t pid = child();
	struct ins_pause p = pause_of(pid);

	(void)state;
	memset(&count, 0, sizeof count);
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	assert_int_equal(ins_pause(&p, &count), INS_PAUSE_REFUSED);
	assert_int_equal(p.error, -EPERM);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(ins_pause(&p, &count), INS_PAUSE_GONE);
	assert_memory_equal(&count, &none, sizeof count);
	free(p.bytes);
}

static int start(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return shared == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers_record_and_stack_are_copied_and_it_goes_on),
		cmocka_unit_test(test_one_on_another_stack_is_elsewhere_unless_that_is_wanted_too),
		cmocka_unit_test(test_signals_that_come_meanwhile_are_all_taken),
		cmocka_unit_test(test_who_is_stopped_stays_stopped),
		cmocka_unit_test(test_who_may_not_be_stopped_or_is_gone_is_told),
	};

	return HEAD_RUN(tests, start, NULL);
}
