/* SPDX-License-Identifier: MIT */
/*
 * take.c - make a recording: from the first request to the file
 *
 * The rings are read many times a second, so small rings suffice; they are also read while stacks
 * arrive over the other connection. Each reading has a pair of the program's ticks and the time.
 * The list of fibers is read at the start and before the last reading, because events have only
 * fiber ids. Stacks are sampled repeatedly (take_stacks.c). Functions are named here, because the
 * program's files are on this machine.
 *
 * The first Ctrl-C ends the recording with what there is, and the recorder in the program is
 * switched off. If the tool is killed, the program notices that the rings are not read, and stops
 * by itself.
 */
#include "fibertrace/take.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fibertrace/taking.h"
#include "inspect/process/silence.h"
#include "inspect/source/source.h"

#define TIMEOUT	   INT64_C(10000000000)
#define LOOK_EVERY INT64_C(100000000)
#define FEW	   2000 /* fibers that are looked at that often */
#define MANY	   20000

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* -- all of it -- */

static int begin(struct trace_taking *t)
{
	struct fib_recording_head *h = &t->head;
	int rc = trace_ask_rings(t, FIB_WIRE_RECORD_START);

	if (rc < 0)
		return rc;
	memcpy(h->magic, FIB_RECORDING_MAGIC, sizeof h->magic);
	h->version = FIB_RECORDING_VERSION;
	h->order = FIB_RECORDING_ORDER;
	h->ring_events = t->is.events;
	if (gethostname(h->host, sizeof h->host - 1) < 0)
		h->host[0] = 0;
	rc = ins_recording_begin(t->how->path, t->how->replace, h, t->error, &t->writer);
	if (rc == 0)
		rc = ins_recording_put(t->writer, FIB_RECORDING_CLOCKS,
				       &(struct fib_recording_clock){t->is.time, t->is.now},
				       sizeof(struct fib_recording_clock));
	if (rc == 0)
		rc = trace_take_fibers(t, FIB_RECORDING_FIBERS);
	t->reads = true;
	t->look_every = t->taken->fibers <= FEW	   ? LOOK_EVERY
			: t->taken->fibers <= MANY ? 5 * LOOK_EVERY
						   : 0;
	if (rc == 0) {
		fprintf(t->how->json ? stderr : stdout, "recording: Ctrl-C ends it\n");
		fflush(stdout);
	}
	/* A look at so many fibers would delay the rings: there is only one, at the end. */
	if (t->taken->fibers > MANY)
		t->stacks_at = INT64_MAX;
	return rc;
}

static void look_around(struct trace_taking *t)
{
	struct ins_error ignored, *error = t->error;

	t->error = &ignored;
	/* The next reading detects the end of the process. */
	if (trace_look_for_names(t, trace_now()) < 0)
		t->look_every = 0;
	if (trace_look_at_stacks(t) < 0)
		t->stacks_at = INT64_MAX;
	t->error = error;
}

static int read_on(struct trace_taking *t)
{
	const int64_t until = t->head.began + t->how->length;
	struct timespec pause;
	int rc = 0;

	look_around(t);
	while (rc == 0 && !t->over && !interrupted) {
		int64_t left = until - trace_now();

		if (left <= 0)
			break;
		if (left > TRACE_READ_EVERY)
			left = TRACE_READ_EVERY;
		pause = (struct timespec){0, left};
		nanosleep(&pause, NULL);
		rc = trace_read_rings(t);
		if (t->over)
			return 0;
		if (rc == 0)
			look_around(t);
	}
	return rc;
}

static int finish(struct trace_taking *t)
{
	struct ins_error ignored;
	struct timespec wall;
	int rc = 0;

	if (!t->over) {
		struct ins_error *error = t->error;

		t->error = &ignored;
		/* The process may end at any moment; its events so far are here. */
		if (trace_take_fibers(t, FIB_RECORDING_LAST) < 0 ||
		    trace_ask_rings(t, FIB_WIRE_RECORD_READ) < 0 ||
		    trace_ask_rings(t, FIB_WIRE_RECORD_STOP) < 0)
			t->over = true;
		t->error = error;
	}
	if (t->over)
		ins_problems_add(&t->taken->problems,
				 "the process %s: the last moments, and the stacks of then, are "
				 "missing",
				 ins_process_is_alive(fib_wire_peer(&t->client))
					 ? "stopped answering"
					 : "ended");
	if (t->untaken)
		ins_problems_add(&t->taken->problems,
				 "%zu stack%s not taken: %d at most, of %d places", t->untaken,
				 t->untaken == 1 ? " was" : "s were", TRACE_SAMPLES, TRACE_SHAPES);
	if (t->taken->lost)
		ins_problems_add(&t->taken->problems,
				 "%" PRIu64 " event%s lost: a larger --ring loses fewer",
				 t->taken->lost, t->taken->lost == 1 ? " was" : "s were");
	if (!t->symbols && ins_symbols_new(t->source->modules, &t->symbols) < 0)
		return ins_error_set(t->error, -ENOMEM, "out of memory");
	rc = trace_take_words(t);
	clock_gettime(CLOCK_REALTIME, &wall);
	t->head.wall = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec;
	t->head.pid = t->source->pid;
	memcpy(t->head.name, t->source->name, sizeof t->head.name);
	t->taken->pid = t->head.pid;
	memcpy(t->taken->name, t->head.name, sizeof t->taken->name);
	t->taken->length = t->head.ended - t->head.began;
	return rc;
}

static int record(struct trace_taking *t)
{
	struct ins_recording_writer *w;
	int rc = begin(t);

	if (rc == 0)
		rc = read_on(t);
	if (rc == 0)
		rc = finish(t);
	else if (t->is.id)
		trace_ask_rings(t, FIB_WIRE_RECORD_STOP);
	w = t->writer;
	if (!w)
		return rc;
	if (rc == 0)
		return ins_recording_end(w, &t->head, t->error);
	ins_recording_drop(w);
	return rc;
}

int trace_take(const struct trace_take *how, struct trace_taken *ret, struct ins_error *error)
{
	static struct trace_taking t;
	const struct sigaction sa = {.sa_handler = interrupt};
	int rc;

	memset(ret, 0, sizeof *ret);
	t = (struct trace_taking){.how = how, .taken = ret, .error = error, .client = {.fd = -1}};
	rc = ins_source_open_control(how->socket, how->pid, TIMEOUT, error, &t.source);
	if (rc < 0)
		return rc;
	rc = fib_wire_connect(&t.client, how->socket, TIMEOUT);
	if (rc == 0 && how->pid && fib_wire_peer(&t.client) != how->pid)
		rc = -ESTALE;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	rc = rc < 0 ? trace_refused(&t, rc, NULL) : record(&t);
	fib_wire_disconnect(&t.client);
	trace_drop_shapes(&t);
	ins_symbols_free(t.symbols);
	ins_unwinder_free(t.unwinder);
	ins_source_close(t.source);
	return rc;
}
