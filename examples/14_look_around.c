/* SPDX-License-Identifier: MIT */
/*
 * 14_look_around.c - a program that inspects its own fibers, also from a signal handler
 *
 * A program can read what fiberctl shows, for example to answer a health check or to print a report
 * before it dies.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fiber.h>

static struct fiber_mutex config = {.name = "config"};

static void on_signal(int number)
{
	fiber_dump(STDOUT_FILENO);
	if (number == SIGSEGV)
		signal(SIGSEGV, SIG_DFL); /* it faults again, and dumps core */
}

/* Call before the first runtime is started: then a stack overflow is still reported first. */
static int watch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};

	return sigaction(SIGUSR1, &action, NULL) < 0 || sigaction(SIGSEGV, &action, NULL) < 0;
}

static void *want(void *arg)
{
	fiber_set_name(fiber_self(), "reader");
	fiber_mutex_lock(&config, FIBER_FOREVER);
	fiber_mutex_unlock(&config);
	return arg;
}

static int is_stuck(const struct fiber_info *info, void *arg)
{
	if (!strcmp(info->wait_kind, "mutex") && fiber_now() - info->since > 1000000)
		++*(unsigned *)arg;
	return 0;
}

static void tell_about(struct fiber_runtime *rt)
{
	struct fiber_snapshot *snapshot;
	struct fiber_info info;

	if (fiber_snapshot(rt, &snapshot) < 0)
		return;
	while (fiber_snapshot_next(snapshot, &info))
		printf("%s %s %s\n", info.name, info.wait_kind, info.wait_object_name);
	fiber_snapshot_free(snapshot);
}

int main(void)
{
	struct fiber_runtime *rt;
	unsigned stuck = 0;

	if (watch_signals() || fiber_runtime_start(NULL, &rt) < 0)
		return 1;
	fiber_mutex_lock(&config, FIBER_FOREVER); /* held by this thread */
	for (int i = 0; i < 2; i++)
		if (fiber_runtime_spawn(rt, NULL, want, NULL, NULL) < 0)
			return 1;
	while (stuck < 2) {
		stuck = 0;
		fiber_sleep(2000000);
		fiber_foreach(rt, is_stuck, &stuck);
	}
	printf("%u fibers wait for a mutex\n", stuck);
	tell_about(rt);
	fflush(stdout);
	raise(SIGUSR1); /* as kill(1) would do */
	fiber_mutex_unlock(&config);
	return fiber_runtime_finish(rt, FIBER_FOREVER) < 0;
}
