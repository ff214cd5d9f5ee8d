/* SPDX-License-Identifier: MIT */
/* test_repeat.c - a system call that a signal has interrupted is made again, and no other one */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/x86_64/repeat.h"
#include "base/atomic.h"
#include "os/sample.h"
#include "tests/harness/paths.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"

#define CALL	"\x0f\x05"
#define PAGE	4096u
#define LIMIT_S 60

/* The numbers of these registers, and that of the call which has them as arguments. */
#define R8   SYS_poll
#define R12  SYS_select
#define RSI  SYS_nanosleep
#define NONE 0

struct code {
	const char *text;
	const char *bytes; /* up to the call */
	size_t size;
	int number; /* of the call that is repeated */
};

#define CODE(text, bytes, number)                                \
	{                                                        \
		text, bytes CALL, sizeof(bytes CALL) - 1, number \
	}

static const struct code codes[] = {
	CODE("glibc poll: mov $7,%eax", "\xb8\x07\0\0\0", SYS_poll),
	CODE("glibc clock_nanosleep: mov $230,%eax", "\x45\x31\xc0\xb8\xe6\0\0\0",
	     SYS_clock_nanosleep),
	CODE("glibc futex: mov $202,%eax; test; setne; xor; shl; xor",
	     "\xb8\xca\0\0\0\x45\x85\xc0\x40\x0f\x95\xc6\x45\x31\xd2\xc1\xe6\x07\x40\x80\xf6\x81",
	     SYS_futex),
	CODE("glibc futex: mov %r8d,%eax; xor $0x80,%sil", "\x44\x89\xc0\x40\x80\xf6\x80", R8),
	CODE("musl futex: mov %r8,%rax", "\x41\xb8\xca\0\0\0\xba\xff\xff\xff\x7f\x4c\x89\xc0", R8),
	CODE("musl futex: mov %r8,%rax; mov %r9,%rdx", "\x4c\x89\xc0\x4c\x89\xca", R8),
	CODE("musl __syscall_cp_c: mov %r12,%rax; four moves",
	     "\x4d\x89\xc2\x4c\x89\xe0\x4d\x89\xc8\x4c\x89\xef\x4c\x8b\x4c\x24\x30\x4c\x89\xf6",
	     R12),
	CODE("mov $7,%rax; lea 8(%rip),%rdi", "\x48\xc7\xc0\x07\0\0\0\x48\x8d\x3d\x08\0\0\0",
	     SYS_poll),
};

static const struct code others[] = {
	CODE("close", "\xb8\x03\0\0\0", NONE),
	CODE("read", "\x31\xc0", NONE),
	CODE("mov $35,%eax behind a byte that may be its prefix",
	     "\x48\x89\x44\x24\x48\xb8\x23\0\0\0", NONE),
	CODE("mov $7,%r8d", "\x41\xb8\x07\0\0\0", NONE),
	CODE("mov %r8,%rax; mov $1,%r8d", "\x4c\x89\xc0\x41\xb8\x01\0\0\0", NONE),
	CODE("mov %rdi,%rax of syscall()", "\x48\x89\xf8\x48\x89\xf7\x48\x89\xd6", NONE),
	CODE("mov $7,%eax; jmp; a move", "\xb8\x07\0\0\0\xeb\x03\x48\x89\xf7", NONE),
	CODE("mov $7,%eax; mov (%rbx),%rax", "\xb8\x07\0\0\0\x48\x8b\x03", NONE),
	CODE("mov $7,%eax; an unknown instruction", "\xb8\x07\0\0\0\x0f\x0b", NONE),
};

/* Three pages; only the one in the middle is readable. */
static unsigned char *page(void)
{
	unsigned char *at =
		mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect(at + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
	return at + PAGE;
}

static ucontext_t failed_at(const unsigned char *pc)
{
	ucontext_t ret;
	greg_t *at = ret.uc_mcontext.gregs;

	memset(&ret, 0, sizeof ret);
	at[REG_RAX] = -EINTR;
	at[REG_RIP] = (greg_t)(uintptr_t)pc;
	at[REG_R8] = R8;
	at[REG_R12] = R12;
	at[REG_RSI] = RSI;
	return ret;
}

/* Whether exactly the call with this number is repeated. */
static bool repeats(const unsigned char *pc, int number)
{
	ucontext_t context = failed_at(pc);
	const greg_t *at = context.uc_mcontext.gregs;

	if (fib_x86_repeat(&context))
		return number != NONE && at[REG_RAX] == number &&
		       at[REG_RIP] == (greg_t)(uintptr_t)(pc - 2);
	return number == NONE && at[REG_RAX] == -EINTR && at[REG_RIP] == (greg_t)(uintptr_t)pc;
}

static unsigned wrong(const struct code list[], size_t n, unsigned char *at, bool before_end)
{
	unsigned ret = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned char *place = before_end ? at + PAGE - 1 - list[i].size : at;

		memset(at, 0, PAGE);
		memcpy(place, list[i].bytes, list[i].size);
		if (!repeats(place + list[i].size, list[i].number)) {
			print_error("# %s\n", list[i].text);
			ret++;
		}
	}
	return ret;
}

static void test_the_number_is_found_in_the_code_of_both_libraries(void **state)
{
	unsigned char *at = page();

	(void)state;
	assert_int_equal(wrong(codes, sizeof codes / sizeof *codes, at, false), 0);
	assert_int_equal(wrong(codes, sizeof codes / sizeof *codes, at, true), 0);
	munmap(at - PAGE, 3 * PAGE);
}

static void test_other_code_and_other_calls_are_left_alone(void **state)
{
	unsigned char *at = page();

	(void)state;
	assert_int_equal(wrong(others, sizeof others / sizeof *others, at, false), 0);
	assert_int_equal(wrong(others, sizeof others / sizeof *others, at, true), 0);
	munmap(at - PAGE, 3 * PAGE);
}

static void test_only_a_call_that_was_interrupted_is_repeated(void **state)
{
	unsigned char *at = page();
	ucontext_t context;

	(void)state;
	memcpy(at, codes[0].bytes, codes[0].size);
	context = failed_at(at + codes[0].size);
	context.uc_mcontext.gregs[REG_RAX] = -EAGAIN;
	assert_false(fib_x86_repeat(&context));
	context.uc_mcontext.gregs[REG_RAX] = 0;
	assert_false(fib_x86_repeat(&context));
	/* The first bytes of a page follow an unmapped one. */
	assert_true(repeats(at, NONE));
	assert_true(repeats(at + 1, NONE));
	at[0] = 0x0f;
	at[1] = 0x05;
	assert_true(repeats(at + 2, NONE));
	munmap(at - PAGE, 3 * PAGE);
}

/* musl's __syscall_cp_asm(). */
static const char asm_bytes[] =
	"\x49\x89\xfb\x48\x89\xf0\x48\x89\xd7\x48\x89\xce\x4c\x89\xc2\x4d\x89\xca"
	"\x4c\x8b\x44\x24\x08\x4c\x8b\x4c\x24\x10\x4c\x89\x5c\x24\x08" CALL;

#define CALLER(text, bytes, number)                    \
	{                                              \
		text, bytes, sizeof(bytes) - 1, number \
	}

/* What follows the call of it in its caller. */
static const struct code callers[] = {
	CALLER("musl 1.2.3: pop; pop; cmp $-4,%rax; jne; cmp $3,%r12",
	       "\x5a\x59\x48\x83\xf8\xfc\x75\x39\x49\x83\xfc\x03", R12),
	CALLER("add $16,%rsp; the jump is taken; cmp $3,%r12",
	       "\x48\x83\xc4\x10\x48\x83\xf8\xfc\x74\x02\xeb\xfe\x49\x83\xfc\x03", R12),
	CALLER("a far jump; cmp $3,%r12",
	       "\x5a\x59\x48\x83\xf8\xfc\x0f\x85\0\x01\0\0\x49\x83\xfc\x03", R12),
	CALLER("cmp $3,%r12; je; cmp $-4,%rax", "\x49\x83\xfc\x03\x74\x39\x48\x83\xf8\xfc", R12),
	CALLER("mov %rax,%rbp; cmp $-4,%eax", "\x48\x89\xc5\x83\xf8\xfc\x75\x39\x49\x83\xfc\x03",
	       R12),
	CALLER("the register is not kept over calls",
	       "\x48\x83\xf8\xfc\x75\x39\x48\x83\xfe\x03\xc3", NONE),
	CALLER("the register is overwritten", "\x41\x5c\x48\x83\xf8\xfc\x75\x39\x49\x83\xfc\x03",
	       NONE),
	CALLER("compared with another number", "\x48\x83\xf8\xfc\x75\x39\x49\x83\xfc\x04\xc3",
	       NONE),
	CALLER("compared with another error",
	       "\x48\x83\xf8\xfb\x75\x02\x5a\x59\x49\x83\xfc\x03\xc3", NONE),
	CALLER("a jump that depends on something else", "\x48\x83\xf8\xfc\x85\xc0\x75\x39", NONE),
	CALLER("the result is not looked at", "\x48\x89\xc7\xe8", NONE),
	CALLER("another result", "\x31\xc0\x48\x83\xf8\xfc\x75\x39\x49\x83\xfc\x03", NONE),
};

static bool repeats_for(const unsigned char *pc, const struct code *caller, unsigned char *end,
			bool cancelled)
{
	uint64_t stack[1] = {(uint64_t)(uintptr_t)(end - caller->size)};
	const int number = cancelled ? NONE : caller->number;
	ucontext_t context = failed_at(pc);
	const uint64_t blocked = 1ull << (33 - 1);
	greg_t *at = context.uc_mcontext.gregs;

	memcpy(end - caller->size, caller->bytes, caller->size);
	at[REG_RSP] = (greg_t)(uintptr_t)stack;
	if (cancelled)
		memcpy(&context.uc_sigmask, &blocked, sizeof blocked);
	return fib_x86_repeat(&context) == (number != NONE) &&
	       at[REG_RAX] == (number == NONE ? -EINTR : number);
}

static void test_musl_keeps_the_number_in_a_register_of_the_caller(void **state)
{
	unsigned char *at = page();
	unsigned char *pc = at + sizeof asm_bytes - 1;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof callers / sizeof *callers; i++) {
		memset(at, 0xcc, PAGE);
		memcpy(at, asm_bytes, sizeof asm_bytes - 1);
		*pc = 0xc3;
		if (!repeats_for(pc, &callers[i], at + PAGE, false))
			fail_msg("%s", callers[i].text);
	}
	assert_true(repeats_for(pc, &callers[0], at + PAGE, true));
	*pc = 0x90;
	assert_false(repeats_for(pc, &callers[0], at + PAGE, false));
	munmap(at - PAGE, 3 * PAGE);
}

/* -- real sleeps -- */

static _Atomic uint32_t sleeper;
static _Atomic int handled;
static int event;

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct fib_context at;

	(void)number;
	(void)info;
	fib_arch_interrupted(context, &at);
	fib_add_relaxed(&handled, 1);
}

static int prepare(void **state)
{
	const struct sigaction action = {.sa_sigaction = on_signal,
					 .sa_flags = SA_SIGINFO | SA_RESTART};

	(void)state;
	fib_store(&sleeper, 0);
	fib_store(&handled, 0);
	event = eventfd(0, EFD_CLOEXEC);
	return event < 0 || sigaction(SIGURG, &action, NULL) < 0 ? -1 : 0;
}

static int clean(void **state)
{
	(void)state;
	signal(SIGURG, SIG_DFL);
	return close(event);
}

static void *polls(void *arg)
{
	struct pollfd poller = {.fd = event, .events = POLLIN};

	(void)arg;
	fib_store(&sleeper, (uint32_t)syscall(SYS_gettid));
	return (void *)(intptr_t)(poll(&poller, 1, -1) < 0 ? -errno : 0);
}

static void *waits_for_events(void *arg)
{
	struct epoll_event events = {.events = EPOLLIN};
	int rc, fd = epoll_create1(EPOLL_CLOEXEC);

	(void)arg;
	epoll_ctl(fd, EPOLL_CTL_ADD, event, &events);
	fib_store(&sleeper, (uint32_t)syscall(SYS_gettid));
	rc = epoll_wait(fd, &events, 1, -1) < 0 ? -errno : 0;
	close(fd);
	return (void *)(intptr_t)rc;
}

static void *sleeps(void *arg)
{
	const struct timespec time = {.tv_sec = 1};

	(void)arg;
	fib_store(&sleeper, (uint32_t)syscall(SYS_gettid));
	return (void *)(intptr_t)(nanosleep(&time, NULL) < 0 ? -errno : 0);
}

static bool asleep(void *arg)
{
	struct fib_sleeper_place place;

	(void)arg;
	sched_yield();
	return fib_load(&sleeper) && fib_os_thread_place(fib_load(&sleeper), &place) == 1;
}

static bool has_handled(void *arg)
{
	sched_yield();
	return fib_load(&handled) == *(const int *)arg;
}

static pthread_t start(void *(*fn)(void *))
{
	pthread_t ret;

	fib_store(&sleeper, 0);
	fib_store(&handled, 0);
	assert_int_equal(pthread_create(&ret, NULL, fn, NULL), 0);
	assert_true(harness_until(asleep, NULL, LIMIT_S));
	return ret;
}

static void interrupt(pthread_t thread, int times)
{
	int i;

	for (i = 1; i <= times; i++) {
		assert_int_equal(pthread_kill(thread, SIGURG), 0);
		assert_true(harness_until(has_handled, &i, LIMIT_S));
		assert_true(harness_until(asleep, NULL, LIMIT_S));
	}
}

static bool is_delayed(void)
{
	/* ThreadSanitizer delays the calls of handlers. */
	return strcmp(harness_sanitizer(), "thread") == 0;
}

static void test_a_sleep_goes_on_after_many_signals(void **state)
{
	void *(*const fns[])(void *) = {polls, waits_for_events};
	const uint64_t one = 1;
	uint64_t value;
	pthread_t thread;
	void *result;
	size_t i;

	(void)state;
	if (is_delayed())
		skip();
	for (i = 0; i < 2; i++) {
		thread = start(fns[i]);
		interrupt(thread, 100);
		assert_int_equal(write(event, &one, sizeof one), sizeof one);
		assert_int_equal(pthread_join(thread, &result), 0);
		assert_int_equal((intptr_t)result, 0);
		assert_int_equal(read(event, &value, sizeof value), sizeof value);
	}
}

static void test_a_sleep_for_some_time_is_not_cut(void **state)
{
	pthread_t thread;
	void *result;

	(void)state;
	if (is_delayed())
		skip();
	thread = start(sleeps);
	/* On a busy machine the sleep may be over by now. */
	pthread_kill(thread, SIGURG);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_int_equal((intptr_t)result, 0);
}

static void test_a_thread_that_is_interrupted_can_be_cancelled(void **state)
{
	pthread_t thread;
	void *result;
	int i;

	(void)state;
	if (is_delayed())
		skip();
	for (i = 0; i < 50; i++) {
		thread = start(polls);
		pthread_kill(thread, SIGURG);
		assert_int_equal(pthread_cancel(thread), 0);
		pthread_kill(thread, SIGURG);
		assert_int_equal(pthread_join(thread, &result), 0);
		assert_ptr_equal(result, PTHREAD_CANCELED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_number_is_found_in_the_code_of_both_libraries),
		cmocka_unit_test(test_other_code_and_other_calls_are_left_alone),
		cmocka_unit_test(test_only_a_call_that_was_interrupted_is_repeated),
		cmocka_unit_test(test_musl_keeps_the_number_in_a_register_of_the_caller),
		cmocka_unit_test_setup_teardown(test_a_sleep_goes_on_after_many_signals, prepare,
						clean),
		cmocka_unit_test_setup_teardown(test_a_sleep_for_some_time_is_not_cut, prepare,
						clean),
		cmocka_unit_test_setup_teardown(test_a_thread_that_is_interrupted_can_be_cancelled,
						prepare, clean),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
