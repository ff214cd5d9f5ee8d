/* SPDX-License-Identifier: MIT */
/*
 * stress_outside.c - events from outside the runtime: offload threads, descriptors, other runtimes
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/stress/stress.h"

/* -- fiber_block -- */

static _Atomic uint64_t handed, called;

struct errand {
	int64_t ns;
	_Atomic unsigned holders; /* the caller and the offload thread */
};

static void let_go(struct errand *e)
{
	if (--e->holders == 0)
		free(e);
}

static void *run_errand(void *arg)
{
	struct errand *e = arg;
	const struct timespec pause = {0, (long)e->ns};
	void *const result = (void *)(uintptr_t)(e->ns + 1);

	nanosleep(&pause, NULL);
	called++;
	let_go(e);
	return result;
}

static void block(struct stress_actor *a)
{
	while (stress_on(a, "fiber_block")) {
		struct errand *e = malloc(sizeof *e);
		void *result = NULL;
		int rc;

		if (!e)
			stress_wrong("no memory");
		e->ns = stress_rand(a, 200000);
		e->holders = 2;
		rc = fiber_block(run_errand, e, &result, stress_deadline(a));
		if (rc == -EAGAIN) {
			e->holders = 1;
		} else {
			stress_expect(rc, "fiber_block");
			handed++;
		}
		if (rc == 0 && result != (void *)(uintptr_t)(e->ns + 1))
			stress_wrong("fiber_block gave another's result");
		let_go(e);
	}
}

static void begin_block(void)
{
	handed = called = 0;
	stress_add("block", 0, 10, block, NULL);
	stress_add("block-thread", STRESS_THREAD, 1, block, NULL);
}

static void check_block(void)
{
	const struct timespec pause = {0, 1000000};
	int i;

	/* Calls whose callers have left are still running. */
	for (i = 0; i < 20000 && called != handed; i++)
		nanosleep(&pause, NULL);
	if (called != handed)
		stress_wrong("%llu functions were handed over, %llu called",
			     (unsigned long long)handed, (unsigned long long)called);
}

const struct stress_theme stress_block = {"block", begin_block, check_block};

/* -- socket pairs: bytes in order -- */

#define PAIRS 6

static struct stream {
	int fd[2];
	_Atomic uint64_t written, read; /* each is written by one side at a time */
} streams[PAIRS];

static unsigned char byte_at(uint64_t at)
{
	return (unsigned char)(at * 167 >> 3);
}

static void write_stream(struct stress_actor *a)
{
	struct stream *s = stress_arg(a);
	unsigned char bytes[3000];

	while (stress_on(a, "fiber_write")) {
		const size_t n = 1 + stress_rand(a, sizeof bytes);
		ssize_t rc;
		size_t i;

		for (i = 0; i < n; i++)
			bytes[i] = byte_at(s->written + i);
		rc = fiber_write(s->fd[0], bytes, n, stress_deadline(a));
		if (rc > 0)
			s->written += (uint64_t)rc;
		else
			stress_expect((int)rc, "fiber_write");
		stress_pause(a);
	}
}

/* Check that these bytes are the next in order. */
static void have_come(struct stream *s, const unsigned char *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (bytes[i] != byte_at(s->read + i))
			stress_wrong("byte %llu of a stream is not what was written",
				     (unsigned long long)(s->read + i));
	s->read += n;
}

static void read_stream(struct stress_actor *a)
{
	struct stream *s = stress_arg(a);
	unsigned char bytes[4000];
	ssize_t rc = 1;

	while (rc != 0 && !fiber_cancelled()) {
		stress_at(a, "fiber_read");
		rc = fiber_read(s->fd[1], bytes, 1 + stress_rand(a, sizeof bytes),
				stress_deadline(a));
		stress_expect((int)rc, "fiber_read");
		have_come(s, bytes, rc > 0 ? (size_t)rc : 0);
	}
}

static void end_streams(struct stress_actor *a)
{
	unsigned i;

	while (stress_on(a, "waits for the writers"))
		fiber_sleep(1000000);
	for (i = 0; i < PAIRS; i++)
		fiber_close(streams[i].fd[0]);
}

static bool mortal_reader(unsigned pair)
{
	return pair % 3 == 2;
}

static void begin_stream(void)
{
	unsigned i;

	memset(streams, 0, sizeof streams);
	for (i = 0; i < PAIRS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, streams[i].fd) < 0)
			stress_wrong("no socket pair");
		stress_add("write",
			   i % 3 == 1 ? STRESS_MORTAL
			   : i == 0   ? STRESS_THREAD
				      : 0,
			   1, write_stream, &streams[i]);
		stress_add("read",
			   STRESS_SERVER | (mortal_reader(i) ? STRESS_MORTAL
					    : i == 0	     ? STRESS_THREAD
							     : 0),
			   1, read_stream, &streams[i]);
	}
	stress_add("close", STRESS_SERVER, 1, end_streams, NULL);
}

/* The last life of a mortal reader may end after the writers, before it has read everything. */
static void read_rest(struct stream *s)
{
	unsigned char bytes[4000];
	ssize_t n;

	while ((n = read(s->fd[1], bytes, sizeof bytes)) > 0)
		have_come(s, bytes, (size_t)n);
}

static void check_stream(void)
{
	unsigned i;

	for (i = 0; i < PAIRS; i++) {
		if (mortal_reader(i))
			read_rest(&streams[i]);
		if (streams[i].read != streams[i].written)
			stress_wrong("stream %u: %llu written, %llu read", i,
				     (unsigned long long)streams[i].written,
				     (unsigned long long)streams[i].read);
		fiber_close(streams[i].fd[1]);
	}
}

const struct stress_theme stress_stream = {"stream", begin_stream, check_stream};

/* -- runtimes that start and finish, and share a mutex and a channel of tokens with the one that
 * stays -- */

#define VISITORS 6

static struct fiber_mutex shared;
static struct fiber_sem tokens;
static uint64_t both; /* plain: under shared */

static void *visit(void *arg)
{
	int i;

	for (i = 0; i < 4; i++) {
		if (fiber_mutex_lock(&shared, FIBER_FOREVER) < 0)
			stress_wrong("a visitor gets no mutex");
		both++;
		fiber_mutex_unlock(&shared);
		fiber_yield();
	}
	fiber_sem_wait(&tokens, FIBER_FOREVER);
	fiber_sem_post(&tokens);
	return arg;
}

static void *linger(void *arg)
{
	while (fiber_sleep(100000) == 0)
		;
	return arg;
}

static void come_and_go(struct stress_actor *a)
{
	const struct fiber_attr background = {.size = sizeof background,
					      .flags = FIBER_BACKGROUND | FIBER_DETACHED};

	while (stress_on(a, "fiber_runtime_finish")) {
		const struct fiber_runtime_options options = {.size = sizeof options,
							      .carriers = 1 + stress_rand(a, 2),
							      .control_path = ""};
		struct fiber *f[VISITORS];
		struct fiber_runtime *rt;
		unsigned i;

		if (fiber_runtime_start(&options, &rt) < 0)
			stress_wrong("no runtime starts");
		fiber_runtime_spawn(rt, &background, linger, NULL, NULL);
		for (i = 0; i < VISITORS; i++)
			if (fiber_runtime_spawn(rt, NULL, visit, NULL, i % 2 ? &f[i] : NULL) < 0)
				stress_wrong("nothing can be spawned");
		for (i = 1; i < VISITORS; i += 2)
			fiber_join(f[i], NULL, FIBER_FOREVER);
		if (fiber_runtime_finish(rt, FIBER_FOREVER) < 0)
			stress_wrong("a runtime does not finish");
	}
}

static void stay_at_home(struct stress_actor *a)
{
	while (stress_on(a, "shares a mutex with visitors")) {
		int rc = fiber_mutex_lock(&shared, stress_deadline(a));

		stress_expect(rc, "fiber_mutex_lock");
		if (rc == 0) {
			both++;
			fiber_mutex_unlock(&shared);
		}
		rc = fiber_sem_wait(&tokens, stress_deadline(a));
		stress_expect(rc, "fiber_sem_wait");
		stress_pause(a);
		if (rc == 0)
			fiber_sem_post(&tokens);
	}
}

static void begin_runtimes(void)
{
	memset(&shared, 0, sizeof shared);
	memset(&tokens, 0, sizeof tokens);
	fiber_sem_init(&tokens, 2);
	stress_add("runtime", STRESS_THREAD, 3, come_and_go, NULL);
	stress_add("at-home", 0, 6, stay_at_home, NULL);
}

const struct stress_theme stress_runtimes = {"runtimes", begin_runtimes, NULL};
