/* SPDX-License-Identifier: MIT */
/*
 * test_program_faults.c - the program's own calls that need a descriptor fail where the faults say so
 *
 * Each call of the table is made once by a fiber, and the strategy each-fault lets its place fail in
 * each way. The results that it then has had are those of the table.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tests/explore/loopback.h"

#define RESULTS 8

static struct {
	unsigned n;
	int at[RESULTS]; /* 0, or the negative errno */
} * seen;

static struct fiber_test_result result;

static void note_result(int rc)
{
	unsigned i;

	for (i = 0; i < seen->n; i++)
		if (seen->at[i] == rc)
			return;
	fiber_test_assert(seen->n < RESULTS);
	seen->at[seen->n++] = rc;
}

static bool was_seen(int rc)
{
	unsigned i;

	for (i = 0; i < seen->n && seen->at[i] != rc; i++)
		;
	return i < seen->n;
}

/* -- each call -- */

static char folder[] = "/tmp/fiber-test-XXXXXX"; /* for files */
static int listener, inside, client;		 /* a UNIX listener, an internet one, a socket */
static struct sockaddr_in target;

/* Close what a call has returned. 0, or the negative errno. */
static int close_one(int fd)
{
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int close_both(int rc, const int ends[2])
{
	if (rc < 0)
		return -errno;
	close(ends[0]);
	close(ends[1]);
	return 0;
}

#define CALL(name, expression)                \
	static int call_##name(void)          \
	{                                     \
		return close_one(expression); \
	}

static const char *new_path(void)
{
	static char path[64];

	snprintf(path, sizeof path, "%s/file", folder);
	return path;
}

/* What a program that is compiled with _FORTIFY_SOURCE calls. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

CALL(socket, socket(AF_UNIX, SOCK_STREAM, 0))
CALL(socket_inside, socket(AF_INET, SOCK_STREAM, 0))
CALL(eventfd, eventfd(0, 0))
CALL(timerfd, timerfd_create(CLOCK_MONOTONIC, 0))
CALL(open, open("/dev/null", O_RDONLY))
CALL(open_new, open(new_path(), O_WRONLY | O_CREAT, 0640))
CALL(open64, open64("/dev/null", O_RDONLY))
CALL(openat, openat(AT_FDCWD, "/dev/null", O_RDONLY))
CALL(openat_new, openat(AT_FDCWD, new_path(), O_WRONLY | O_CREAT, 0640))
CALL(openat64, openat64(AT_FDCWD, "/dev/null", O_RDONLY))
CALL(creat, creat(new_path(), 0640))
CALL(open_2, __open_2("/dev/null", O_RDONLY))
CALL(open64_2, __open64_2("/dev/null", O_RDONLY))
CALL(openat_2, __openat_2(AT_FDCWD, "/dev/null", O_RDONLY))
CALL(openat64_2, __openat64_2(AT_FDCWD, "/dev/null", O_RDONLY))

static int call_pipe(void)
{
	int ends[2];

	return close_both(pipe(ends), ends);
}

static int call_pipe2(void)
{
	int ends[2];

	return close_both(pipe2(ends, O_CLOEXEC), ends);
}

static int call_socketpair(void)
{
	int ends[2];

	return close_both(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), ends);
}

static void connect_client(int to)
{
	struct sockaddr_storage at;
	socklen_t size = sizeof at;

	fiber_test_assert(getsockname(to, (struct sockaddr *)&at, &size) == 0);
	fiber_test_assert(fiber_connect(client, (struct sockaddr *)&at, size, FIBER_FOREVER) == 0);
}

static int call_accept(void)
{
	connect_client(listener);
	return close_one(accept(listener, NULL, NULL));
}

static int call_accept4(void)
{
	connect_client(listener);
	return close_one(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
}

static int call_accept_inside(void)
{
	connect_client(inside);
	return close_one(accept(inside, NULL, NULL));
}

static int call_connect(void)
{
	return connect(client, (struct sockaddr *)&target, sizeof target) < 0 ? -errno : 0;
}

static int call_connect_at_once(void)
{
	fcntl(client, F_SETFL, O_NONBLOCK);
	return call_connect();
}

/* Public calls, whose place is their own. */
static int call_fiber_open(void)
{
	const int fd = fiber_open("/dev/null", O_RDONLY, 0, FIBER_FOREVER);

	return fd < 0 ? fd : close_one(fd);
}

static int call_fiber_accept(void)
{
	int fd;

	connect_client(inside);
	fd = fiber_accept(inside, NULL, NULL, 0);
	return fd < 0 ? fd : close_one(fd);
}

static int call_fiber_connect(void)
{
	return fiber_connect(client, (struct sockaddr *)&target, sizeof target, FIBER_FOREVER);
}

static int call_fopen(void)
{
	FILE *file = fopen("/dev/null", "r");

	if (!file)
		return -errno;
	fclose(file);
	return 0;
}

#define DESCRIPTORS FIBER_TEST_FAULT_DESCRIPTORS
#define NONE	    -EMFILE, -ENFILE

static const struct call {
	const char *name;
	int (*fn)(void);
	int family;	/* of the client; 0: none is needed */
	unsigned kinds; /* of faults */
	int results[6]; /* beside 0 */
} calls[] = {
	{"socket", call_socket, 0, DESCRIPTORS, {NONE}},
	{"socket (internet)", call_socket_inside, 0, DESCRIPTORS, {NONE}},
	{"socketpair", call_socketpair, 0, DESCRIPTORS, {NONE}},
	{"pipe", call_pipe, 0, DESCRIPTORS, {NONE}},
	{"pipe2", call_pipe2, 0, DESCRIPTORS, {NONE}},
	{"eventfd", call_eventfd, 0, DESCRIPTORS, {NONE}},
	{"timerfd_create", call_timerfd, 0, DESCRIPTORS, {NONE}},
	{"open", call_open, 0, DESCRIPTORS, {NONE}},
	{"open64", call_open64, 0, DESCRIPTORS, {NONE}},
	{"openat", call_openat, 0, DESCRIPTORS, {NONE}},
	{"openat64", call_openat64, 0, DESCRIPTORS, {NONE}},
	{"creat", call_creat, 0, DESCRIPTORS, {NONE}},
	{"__open_2", call_open_2, 0, DESCRIPTORS, {NONE}},
	{"__open64_2", call_open64_2, 0, DESCRIPTORS, {NONE}},
	{"__openat_2", call_openat_2, 0, DESCRIPTORS, {NONE}},
	{"__openat64_2", call_openat64_2, 0, DESCRIPTORS, {NONE}},
	{"open", call_open, 0, FIBER_TEST_FAULT_DISK, {-EIO}},
	{"open (O_CREAT)", call_open_new, 0, FIBER_TEST_FAULT_DISK, {-EIO, -ENOSPC}},
	{"openat (O_CREAT)", call_openat_new, 0, FIBER_TEST_FAULT_DISK, {-EIO, -ENOSPC}},
	{"open (O_CREAT)", call_open_new, 0, FIBER_TEST_FAULT_ALL, {NONE, -EIO, -ENOSPC}},
	{"accept", call_accept, AF_UNIX, DESCRIPTORS, {NONE, -ECONNABORTED}},
	{"accept4", call_accept4, AF_UNIX, DESCRIPTORS, {NONE, -ECONNABORTED}},
	{"accept (internet)", call_accept_inside, AF_INET, DESCRIPTORS, {NONE, -ECONNABORTED}},
	{"connect", call_connect, AF_INET, FIBER_TEST_FAULT_RESET, {-ECONNREFUSED, -ETIMEDOUT}},
	{"connect (O_NONBLOCK)",
	 call_connect_at_once,
	 AF_INET,
	 FIBER_TEST_FAULT_RESET,
	 {-ECONNREFUSED}},
	/* These have one place each, and not another one for what they call. */
	{"fiber_open", call_fiber_open, 0, DESCRIPTORS, {NONE}},
	{"fiber_accept", call_fiber_accept, AF_INET, DESCRIPTORS, {NONE, -ECONNABORTED}},
	{"fiber_connect",
	 call_fiber_connect,
	 AF_INET,
	 FIBER_TEST_FAULT_RESET,
	 {-ECONNREFUSED, -ETIMEDOUT}},
	/* Not of this kind, and not the program's. */
	{"socket", call_socket, 0, FIBER_TEST_FAULT_ALL & ~DESCRIPTORS, {0}},
	{"fopen", call_fopen, 0, DESCRIPTORS, {0}},
};

static void *make_call(void *arg)
{
	const struct call *call = arg;
	const int rc = call->fn();

	note_result(rc);
	return NULL;
}

/* -- where they are made -- */

static int unix_listener(void)
{
	const struct sockaddr_un at = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	fiber_test_assert(bind(fd, (const struct sockaddr *)&at, sizeof at.sun_family) == 0);
	fiber_test_assert(listen(fd, 5) == 0);
	return fd;
}

/* Outside fibers, where nothing fails. */
static void prepare(void *arg)
{
	const struct call *call = arg;
	const struct sockaddr_storage at = address("127.0.0.1", 8080);

	memcpy(&target, &at, sizeof target);
	listener = unix_listener();
	client = call->family ? socket(call->family, SOCK_STREAM, 0) : -1;
	if (call->family == AF_INET)
		inside = listen_at("127.0.0.1", 8080, 5);
	else
		inside = -1;
	fiber_test_assert(close_one(open("/dev/null", O_RDONLY)) == 0);
}

static void finish(void *arg)
{
	(void)arg;
	close(listener);
	if (client >= 0)
		close(client);
	if (inside >= 0)
		close(inside);
}

static void one_call(void *arg)
{
	make_call(arg);
}

static unsigned count_results(const struct call *call)
{
	unsigned n = 0;

	while (n < 6 && call->results[n])
		n++;
	return n;
}

static void explore_call(const struct call *call, fiber_test_fn *fn, const char *strategy,
			 unsigned kinds, uint64_t schedules)
{
	const struct fiber_test_options options = {
		.size = sizeof options,
		.strategy = strategy,
		.schedules = schedules,
		.faults = kinds,
		.slack = -1,
		.flags = FIBER_TEST_DESCRIPTORS,
		.prepare = prepare,
		.finish = finish,
	};

	memset(seen, 0, sizeof *seen);
	result = (struct fiber_test_result){.size = sizeof result};
	if (fiber_test_explore(fn, (void *)(uintptr_t)call, &options, &result))
		fail_msg("%s: %s", call->name, result.message);
}

static void test_each_call_fails_in_each_of_its_ways(void **state)
{
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof calls / sizeof *calls; i++) {
		const unsigned n = count_results(&calls[i]);

		explore_call(&calls[i], one_call, "each-fault", calls[i].kinds, 0);
		assert_true(was_seen(0));
		for (k = 0; k < n; k++)
			if (!was_seen(calls[i].results[k]))
				fail_msg("%s never failed with %d", calls[i].name,
					 calls[i].results[k]);
		assert_int_equal(seen->n, 1 + n);
		/* It has one place: none, each way, and the end. */
		assert_int_equal(result.schedules, n ? 1 + n + 1 : 1);
	}
}

static void test_without_faults_no_call_fails(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof calls / sizeof *calls; i++) {
		explore_call(&calls[i], one_call, "random", 0, 3);
		assert_int_equal(seen->n, 1);
		assert_true(was_seen(0));
	}
}

/* -- not in a fiber -- */

static void in_block(void *arg)
{
	void *ret;

	fiber_test_assert(fiber_block(make_call, arg, &ret, FIBER_FOREVER) == 0);
}

static void on_thread(void *arg)
{
	pthread_t thread;

	fiber_test_assert(pthread_create(&thread, NULL, make_call, arg) == 0);
	pthread_join(thread, NULL);
}

static int status_of_child(const struct call *call)
{
	const pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(call->fn() != 0);
	fiber_test_assert(waitpid(pid, &status, 0) == pid);
	return status;
}

static void in_child(void *arg)
{
	const int status = status_of_child(arg);

	fiber_test_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_threads_and_children_have_the_calls_of_the_system(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof calls / sizeof *calls; i++) {
		if (calls[i].family || calls[i].kinds != DESCRIPTORS || !count_results(&calls[i]))
			continue;
		if (strncmp(calls[i].name, "fiber_", 6) == 0)
			continue;
		explore_call(&calls[i], on_thread, "each-fault", DESCRIPTORS, 0);
		assert_int_equal(result.schedules, 1);
		explore_call(&calls[i], in_block, "each-fault", DESCRIPTORS, 0);
		assert_int_equal(result.schedules, 1);
		explore_call(&calls[i], in_child, "each-fault", DESCRIPTORS, 0);
		assert_int_equal(result.schedules, 1);
	}
}

/* -- the system's behaviour is kept -- */

static void test_mode_and_flags_reach_the_system(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	umask(0);
	unlink(new_path());
	fd = open(new_path(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0613);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0613);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	assert_int_equal(open(new_path(), O_CREAT | O_EXCL | O_WRONLY, 0600), -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(open("/nowhere", O_RDONLY), -1);
	assert_int_equal(errno, ENOENT);
	fd = open(folder, O_TMPFILE | O_WRONLY, 0604);
	if (fd >= 0) {
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0604);
		close(fd);
	}
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(new_path());
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_call_fails_in_each_of_its_ways),
		cmocka_unit_test(test_without_faults_no_call_fails),
		cmocka_unit_test(test_threads_and_children_have_the_calls_of_the_system),
		cmocka_unit_test(test_mode_and_flags_reach_the_system),
	};

	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
