/* SPDX-License-Identifier: MIT */
/*
 * errand.h - commands that take long: profiles, recordings, and what is made from them
 *
 * Each runs in a child process, beside the turns of the desk.
 */
#ifndef SERVE_ERRAND_H
#define SERVE_ERRAND_H

#include <poll.h>

#include "fiberctl/serve/capture.h"
#include "fiberctl/serve/desk.h"

#define SERVE_ERRANDS 8

struct serve_errand {
	char *words;	  /* the command line, separated by newlines: equal requests share it */
	const char *type; /* of the content; NULL: the output is not sent */
	struct serve_capture capture;
	int64_t deadline;
	struct serve_waiter *waiters;
	/* Called at the end, before the waiters; may be NULL. */
	void (*ended)(void *context, int code, const char *errors);
	void *context;
};

struct serve_errands {
	struct serve_errand *at[SERVE_ERRANDS];
	unsigned count;
};

/* What runs. argv's words must not contain newlines. */
struct serve_errand_how {
	char *const *argv;
	const char *type;
	int64_t time; /* ns that it may take */
	size_t most;  /* bytes that it may write */
	void (*ended)(void *context, int code, const char *errors);
	void *context;
};

/*
 * Start a command, or join one with the same words; the waiter's done() gets its output. waiter NULL:
 * nobody waits. False: too many run.
 */
bool serve_errand_start(struct serve_errands *errands, const struct serve_errand_how *how,
			struct serve_waiter *waiter, int64_t now);

/* As for the desk. */
unsigned serve_errands_fill(const struct serve_errands *errands, struct pollfd *slots);
void serve_errands_work(struct serve_errands *errands, const struct pollfd *slots, unsigned count,
			int64_t now);
void serve_errands_end(struct serve_errands *errands);

#endif
