/* SPDX-License-Identifier: MIT */
/* test_sigpipe.c - a write without a reader gives an error; no signal comes, is lost or changed */
#include "inside.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "tests/harness/child.h"

#define NO_SIGNAL 0x100 /* RWF_NOSIGNAL */

static _Atomic int signals;

static void on_sigpipe(int signal)
{
	(void)signal;
	signals++;
}

/* Return how many writes without a reader gave a wrong result. For a fiber or a thread. */
static void *write_to_nobody(void *arg)
{
	static const int flags[] = {0, O_NONBLOCK};
	char bytes[100] = "", more[10000] = "";
	const struct iovec v[] = {{bytes, sizeof bytes}, {more, sizeof more}};
	intptr_t wrong = 0;

	(void)arg;
	for (int i = 0; i < 4; i++) {
		int fds[2];

		if (i < 2 ? pipe2(fds, flags[i]) < 0
			  : socketpair(AF_UNIX, SOCK_STREAM | (flags[i - 2] ? SOCK_NONBLOCK : 0), 0,
				       fds) < 0)
			return (void *)100;
		close(fds[0]);
		wrong += fiber_write(fds[1], bytes, sizeof bytes, FIBER_FOREVER) != -EPIPE;
		wrong += fiber_write(fds[1], more, sizeof more, 0) != -EPIPE;
		wrong += fiber_writev(fds[1], v, 2, FIBER_FOREVER) != -EPIPE;
		wrong += fiber_write_full(fds[1], more, sizeof more, FIBER_FOREVER) != -EPIPE;
		fiber_close(fds[1]);
	}
	return (void *)wrong;
}

/* On a plain thread: a pending signal of the program stays pending, and no other is added. */
static intptr_t keep_pending(void)
{
	const struct timespec now = {0, 0};
	sigset_t set, before, after, pending;
	intptr_t wrong = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	wrong += (intptr_t)write_to_nobody(NULL);
	sigpending(&pending);
	wrong += sigismember(&pending, SIGPIPE);
	raise(SIGPIPE);
	wrong += (intptr_t)write_to_nobody(NULL);
	sigpending(&pending);
	wrong += !sigismember(&pending, SIGPIPE);
	wrong += sigtimedwait(&set, NULL, &now) != SIGPIPE;
	wrong += sigtimedwait(&set, NULL, &now) != -1;
	pthread_sigmask(SIG_SETMASK, &before, &after);
	wrong += !sigismember(&after, SIGPIPE);
	return wrong;
}

static int survive(void *arg)
{
	struct sigaction action;
	sigset_t mask;
	intptr_t wrong;

	(void)arg;
	/* The default action would end the process. */
	signal(SIGPIPE, SIG_DFL);
	wrong = (intptr_t)write_to_nobody(NULL);
	sigaction(SIGPIPE, NULL, &action);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	wrong += action.sa_handler != SIG_DFL || sigismember(&mask, SIGPIPE);
	signal(SIGPIPE, SIG_IGN);
	wrong += (intptr_t)write_to_nobody(NULL);
	signal(SIGPIPE, SIG_DFL);
	wrong += keep_pending();
	return wrong ? 1 : 0;
}

static void test_sigpipe_does_not_end_who_writes_to_nobody(void **state)
{
	struct harness_child child;

	(void)state;
	harness_child(survive, NULL, 60, &child);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

/* Run as on a kernel that does not know the flag. */
static int survive_without_flag(void *arg)
{
	const size_t flags = offsetof(struct seccomp_data, args) + 5 * sizeof(uint64_t);
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwritev2, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)flags),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NO_SIGNAL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof code / sizeof code[0], code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return 77;
	return survive(arg);
}

static void test_sigpipe_does_not_end_who_writes_to_nobody_on_an_older_kernel(void **state)
{
	struct harness_child child;

	(void)state;
	harness_child(survive_without_flag, NULL, 60, &child);
	if (child.code == 77)
		skip();
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

static void test_sigpipe_is_not_sent_to_fibers_either(void **state)
{
	struct sigaction action = {.sa_handler = on_sigpipe}, before;

	(void)state;
	assert_int_equal(sigaction(SIGPIPE, &action, &before), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(inside(write_to_nobody, NULL), 0);
	assert_int_equal(on_a_thread(write_to_nobody, NULL), 0);
	/* The handler is still there and works. */
	assert_int_equal(signals, 0);
	raise(SIGPIPE);
	assert_int_equal(signals, 1);
	sigaction(SIGPIPE, &before, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sigpipe_does_not_end_who_writes_to_nobody),
		cmocka_unit_test(test_sigpipe_does_not_end_who_writes_to_nobody_on_an_older_kernel),
		cmocka_unit_test(test_sigpipe_is_not_sent_to_fibers_either),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
