/* SPDX-License-Identifier: MIT */
/* served_crowd.h - one crowd, and a server with --allow-changes, for all tests of a program */
#ifndef HARNESS_CLI_SERVED_CROWD_H
#define HARNESS_CLI_SERVED_CROWD_H

#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/cli/serve.h"

static struct serve server;

/* Group setup: the server serves the crowd only. */
static inline int served_crowd(void **state)
{
	(void)state;
	one_crowd("crowd", "60", NULL);
	server = serve_start("--allow-changes", pid, NULL);
	return 0;
}

/* Group setup: the server serves every program of the test. */
static inline int served_beside_others(void **state)
{
	(void)state;
	one_crowd("crowd", "60", NULL);
	server = serve_start("--allow-changes", NULL);
	return 0;
}

/* The group's teardown. */
static inline int served_crowd_end(void **state)
{
	serve_end(&server);
	return one_crowd_end(state);
}

/* Send a question about a program, and read its answer with serve_answered(). */
static inline int ask(pid_t about, const char *question)
{
	return serve_ask_about(&server, about, question);
}

static inline void crowd_is_answered(void)
{
	assert_int_equal(serve_answered(ask(crowd.process->pid, "list")), 200);
}

static inline void await_found(pid_t about)
{
	serve_await_known(&server, about, true);
}

#endif
