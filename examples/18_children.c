/* SPDX-License-Identifier: MIT */
/* 18_children.c - a fiber waits for a program with a time limit, and another fiber for a thread. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fiber.h>

#define MS INT64_C(1000000)

/* Run a command and return its status. Kill it if it takes longer than `limit` ns. */
static int run(const char *command, int64_t limit)
{
	const char *argv[] = {"sh", "-c", command, NULL};
	int status, rc;
	pid_t pid;

	if (posix_spawnp(&pid, "sh", NULL, NULL, (char *const *)argv, environ))
		fiber_fail(-ENOEXEC, "no shell");
	rc = fiber_waitpid(pid, &status, 0, fiber_after(limit));
	if (rc == -ETIMEDOUT) {
		kill(pid, SIGKILL); /* still a child of ours, so still its pid */
		rc = fiber_waitpid(pid, &status, 0, FIBER_FOREVER);
	}
	return rc < 0 ? rc : status;
}

static void *count(void *arg)
{
	int *n = arg;

	usleep(10000); /* a plain thread: it may block */
	*n = 42;
	return n;
}

/* Meanwhile the carrier runs the other fiber. */
static void *wait_for_thread(void *arg)
{
	int n = 0;
	void *value = NULL;
	pthread_t thread;

	if (pthread_create(&thread, NULL, count, &n))
		fiber_fail(-EAGAIN, "no thread");
	fiber_thread_join(thread, &value, FIBER_FOREVER);
	printf("the thread: %d\n", *(int *)value);
	return arg;
}

static void *start(void *arg)
{
	struct fiber *other;
	int status;

	if (fiber_spawn(wait_for_thread, NULL, &other) < 0)
		return arg;
	fiber_join(other, NULL, FIBER_FOREVER);
	status = run("exit 3", 60000 * MS);
	printf("the first: exit code %d\n", WEXITSTATUS(status));
	status = run("exec sleep 100", 20 * MS);
	printf("the second: ended by signal %d\n", WTERMSIG(status));
	return arg;
}

int main(void)
{
	return fiber_run(start, NULL, NULL, NULL) < 0;
}
