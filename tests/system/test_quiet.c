/* SPDX-License-Identifier: MIT */
/*
 * test_quiet.c - a runtime whose fibers all wait for each other uses no CPU time
 *
 * The program starts itself: the child suspends fibers in every kind of wait without a deadline,
 * and the parent reads the kernel's CPU time of each thread, including the service thread and the
 * one that waits in the poller. No thread may run at all. The test takes long because it watches
 * for something not to happen.
 */
#include "carriers.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/process.h"

#define FIBERS	100000
#define THREADS 64
#define LIMIT_S 60

/* -- the child -- */

static struct fiber_mutex mutex, own;
static struct fiber_rwlock rwlock;
static struct fiber_cond cond;
static struct fiber_sem sem;
static struct fiber_event event;
static struct fiber_chan *chan;
static struct fiber_timer *timer;
static struct fiber *first;
static int ends[2];

static void wait_forever(int how)
{
	char c;

	switch (how) {
	case 0:
		fiber_mutex_lock(&mutex, FIBER_FOREVER);
		break;
	case 1:
		fiber_rwlock_rdlock(&rwlock, FIBER_FOREVER);
		break;
	case 2:
		fiber_sem_wait(&sem, FIBER_FOREVER);
		break;
	case 3:
		fiber_event_wait(&event, FIBER_FOREVER);
		break;
	case 4:
		fiber_chan_recv(chan, &c, FIBER_FOREVER);
		break;
	case 5:
		fiber_join(first, NULL, FIBER_FOREVER);
		break;
	case 6:
		fiber_timer_wait(timer, NULL, FIBER_FOREVER);
		break;
	case 7:
		fiber_read(ends[0], &c, 1, FIBER_FOREVER);
		break;
	default:
		fiber_park(FIBER_FOREVER);
	}
}

static void *suspends(void *arg)
{
	int i = (int)(intptr_t)arg;

	/* Only one fiber may join another, and only a few wait for the descriptor. */
	wait_forever(i < 8 ? i : i % 9 == 5 || i % 9 == 7 ? 8 : i % 9);
	return NULL;
}

static void *holds_everything(void *arg)
{
	size_t n = (size_t)(intptr_t)arg;
	struct fiber **f = calloc(n, sizeof *f);

	if (!f)
		abort();
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	fiber_rwlock_wrlock(&rwlock, FIBER_FOREVER);
	for (size_t i = 0; i < n; i++)
		if (fiber_spawn(suspends, (void *)(intptr_t)i, &f[i]) < 0)
			abort();
	for (size_t i = 0; i < n; i++)
		carriers_await_suspended(f[i]);
	free(f);
	printf("ready\n");
	fflush(stdout);
	fiber_mutex_lock(&own, FIBER_FOREVER);
	fiber_cond_wait(&cond, &own, FIBER_FOREVER);
	printf("awake\n");
	fflush(stdout);
	fiber_park(FIBER_FOREVER);
	return NULL;
}

static int child(void)
{
	struct fiber_runtime_options options = carriers_options();
	struct fiber_runtime *rt;
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	options.control_path = NULL; /* make the service thread listen */
	if (pipe(ends) < 0 || fiber_chan_new(1, 0, &chan) < 0 || fiber_timer_new(&timer) < 0 ||
	    fiber_runtime_start(&options, &rt) < 0 ||
	    fiber_runtime_spawn(rt, NULL, holds_everything,
				(void *)(intptr_t)carriers_scale(FIBERS), &first) < 0)
		return 1;
	while (sigwait(&set, &got) == 0)
		fiber_cond_signal(&cond);
	return 1;
}

/* -- the parent -- */

struct thread {
	long tid;
	char name[32];
	unsigned long long ran_ns, switches;
};

struct threads {
	size_t count;
	struct thread thread[THREADS];
};

static bool read_file(char *text, size_t size, pid_t pid, long tid, const char *name)
{
	char path[64];
	size_t n;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/task/%ld/%s", (int)pid, tid, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	n = fread(text, 1, size - 1, file);
	text[n] = 0;
	fclose(file);
	return n > 0;
}

static unsigned long long number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* The CPU time of a thread: in ns if the kernel has schedstat, else in clock ticks. */
static unsigned long long ran(pid_t pid, long tid)
{
	unsigned long long user, system;
	char text[1024], *at;

	if (read_file(text, sizeof text, pid, tid, "schedstat"))
		return strtoull(text, NULL, 10);
	assert_true(read_file(text, sizeof text, pid, tid, "stat"));
	at = strrchr(text, ')'); /* then the state and ten numbers */
	assert_non_null(at);
	at += 3;
	for (int i = 0; i < 11; i++)
		at = strchr(at, ' ') + 1;
	user = strtoull(at, &at, 10);
	system = strtoull(at, NULL, 10);
	return user + system;
}

static void look(pid_t pid, struct threads *ret)
{
	char path[32], text[4096];
	struct dirent *entry;
	DIR *dir;

	memset(ret, 0, sizeof *ret);
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir)) && ret->count < THREADS) {
		struct thread *t = &ret->thread[ret->count];

		t->tid = strtol(entry->d_name, NULL, 10);
		if (t->tid <= 0 || !read_file(text, sizeof text, pid, t->tid, "status"))
			continue;
		sscanf(text, "Name: %31s", t->name);
		/* ThreadSanitizer has its own thread, which wakes now and then. */
		if (!strcmp(harness_sanitizer(), "thread") && strncmp(t->name, "fiber-", 6) != 0)
			continue;
		t->switches = number_after(text, "\nvoluntary_ctxt_switches:") +
			      number_after(text, "\nnonvoluntary_ctxt_switches:");
		t->ran_ns = ran(pid, t->tid);
		ret->count++;
	}
	closedir(dir);
}

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&t, &t) < 0)
		;
}

/* The service thread runs for a while after the last fiber. */
static void await_settled(pid_t pid)
{
	struct threads before, now;
	int calm = 0;

	look(pid, &before);
	for (int i = 0; i < LIMIT_S * 10 && calm < 3; i++) {
		pause_ms(100);
		look(pid, &now);
		calm = memcmp(&now, &before, sizeof now) ? 0 : calm + 1;
		before = now;
	}
	assert_int_equal(calm, 3);
}

static size_t named(const struct threads *t, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++)
		n += !strcmp(t->thread[i].name, name);
	return n;
}

static void test_quiet_runtime_of_suspended_fibers_does_not_run_at_all(void **state)
{
	char self[HARNESS_PATH];
	const char *argv[] = {self, "child", NULL};
	struct harness_process *p;
	struct threads before, after;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	(void)state;
	assert_true(n > 0);
	self[n] = 0;
	p = harness_start(argv, NULL);
	assert_non_null(harness_wait_line(p, "ready", LIMIT_S));
	await_settled(p->pid);
	look(p->pid, &before);
	pause_ms(2500);
	look(p->pid, &after);
	assert_int_equal(named(&before, "fiber-carrier"), carriers());
	assert_int_equal(named(&before, "fiber-service"), 1);
	assert_int_equal(after.count, before.count);
	assert_true(before.thread[0].switches > 0 && before.thread[0].ran_ns > 0);
	for (size_t i = 0; i < before.count; i++) {
		const struct thread *b = &before.thread[i], *a = &after.thread[i];

		if (a->ran_ns != b->ran_ns || a->switches != b->switches)
			print_message("# %s ran for %llu ns, %llu switches\n", b->name,
				      a->ran_ns - b->ran_ns, a->switches - b->switches);
		assert_int_equal(a->tid, b->tid);
		assert_int_equal(a->switches, b->switches);
		assert_int_equal(a->ran_ns, b->ran_ns);
	}
	/* The program sleeps and is alive. */
	assert_int_equal(kill(p->pid, SIGUSR1), 0);
	assert_non_null(harness_wait_line(p, "awake", LIMIT_S));
	harness_free(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet_runtime_of_suspended_fibers_does_not_run_at_all),
	};

	if (argc > 1)
		return strcmp(argv[1], "child") ? 2 : child();
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
