/* SPDX-License-Identifier: MIT */
/*
 * take.c - a recording, from the first word to the process to the file
 *
 * The rings are read many times a second, so that small ones do, also while stacks come over the other connection; with each reading
 * comes a pair of the program's ticks and the time. Which fibers there are is asked for when it has begun, and again before the last
 * reading: events name fibers by their ids only. Their stacks are looked at again and again (take_stacks.c). What a function is
 * called is looked up here, where the program's files are.
 *
 * Whoever interrupts us wants what there is by then. So the first Ctrl-C ends the recording, and nothing is left switched on in the
 * program; should we be killed, the program notices that nobody reads and stops by itself.
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

#define TIMEOUT	   INT64_C(10000000000)
#define LOOK_EVERY INT64_C(100000000)
#define FEW	   2000 /* fibers that are looked at that often */
#define MANY	   20000
#define READ_EVERY INT64_C(20000000)

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t trace_now(void)
{
	return now(CLOCK_MONOTONIC);
}

static int refused(struct trace_taking *t, int rc, const char *why)
{
	char silence[INS_ACCESS_WHY];

	if (rc == -ETIMEDOUT || rc == -ECONNREFUSED)
		why = ins_process_silence(t->how->socket, 0, rc, silence, sizeof silence);
	else if (rc == -ETIME)
		why = "its answer does not end";
	else if (rc == -EMSGSIZE)
		why = "it announces a longer frame than any answer has";
	else if (rc == -ECONNRESET)
		why = ins_process_lives(fib_wire_peer(&t->client))
			      ? "the program knows no flight recorder, being older than this tool, "
				"or its seccomp filter refuses a system call (libfiber(7))"
			      : "the process ended, or knows no flight recorder: it is older than "
				"this tool";
	return ins_error_set(t->error, rc, "%s: %s", t->how->socket,
			     why && why[0] ? why : strerror(-rc));
}

/* -- events -- */

#define PIECE 1024u /* events, at most, of what the program sends at once */

/* The program stops reading a ring when it has sent as many events as that holds, and a piece that it had begun. */
static bool is_too_much(struct trace_taking *t, uint32_t count)
{
	t->reading += count;
	return t->reading > t->rings * (2 * (uint64_t)t->is.events + PIECE);
}

/* How many of the ring were lost since the last time. */
static uint64_t newly_lost(struct trace_taking *t, const struct fib_wire_recorded *head)
{
	uint64_t before;
	size_t i;

	for (i = 0; i < t->rings; i++)
		if (t->ring[i].runtime == head->runtime && t->ring[i].carrier == head->carrier)
			break;
	if (i == t->rings) {
		if (i == TRACE_RINGS)
			return 0;
		t->ring[t->rings++] = (struct trace_ring){head->runtime, 0, head->carrier};
	}
	before = t->ring[i].lost;
	t->ring[i].lost = head->lost;
	return head->lost - before;
}

static int take_events(struct trace_taking *t, const unsigned char *payload, size_t length)
{
	struct fib_wire_recorded head;
	struct ins_recording_events part = {0};
	static struct fib_event event[FIB_WIRE_FRAME_MAX / sizeof(struct fib_event)];
	uint32_t i;

	if (length < sizeof head)
		return -EPROTO;
	memcpy(&head, payload, sizeof head);
	if (head.event_size < sizeof event[0] ||
	    (length - sizeof head) / head.event_size < head.count)
		return -EPROTO;
	for (i = 0; i < head.count; i++) {
		memcpy(&event[i], payload + sizeof head + (size_t)i * head.event_size,
		       sizeof event[i]);
		if (event[i].type == FIB_EVENT_SPAWN)
			trace_note_entry(t, event[i].object);
	}
	part.runtime = head.runtime;
	part.carrier = head.carrier;
	part.count = head.count;
	part.lost = newly_lost(t, &head);
	if (is_too_much(t, head.count))
		return -ETIME;
	fib_wire_news(&t->client, head.count);
	t->taken->events += head.count;
	t->taken->lost += part.lost;
	/* A ring that noted nothing is told of too: it was there. */
	return ins_recording_put_events(t->writer, &part, event);
}

static int take_is(struct trace_taking *t, const void *payload, size_t length)
{
	struct ins_recording_clock clock;

	if (length < sizeof t->is)
		return -EPROTO;
	memcpy(&t->is, payload, sizeof t->is);
	if (!t->is.runtimes)
		return 0;
	clock = (struct ins_recording_clock){t->is.time, t->is.now};
	if (!t->head.began)
		t->head.began = t->is.now;
	t->head.ended = t->is.now;
	return t->writer ? ins_recording_put(t->writer, INS_RECORDING_CLOCKS, &clock, sizeof clock)
			 : 0;
}

static int ask(struct trace_taking *t, enum fib_wire_record_what what)
{
	const struct fib_wire_record request = {what, t->how->ring, t->is.id};
	struct fib_wire_header header;
	struct fib_wire_error error;
	const void *payload;
	int rc = fib_wire_request(&t->client, FIB_WIRE_RECORD, &request, sizeof request);

	t->reading = 0;
	while (rc == 0) {
		rc = fib_wire_receive(&t->client, &header, &payload);
		if (rc < 0)
			break;
		if (header.type == FIB_WIRE_END)
			return 0;
		if (header.type == FIB_WIRE_ERROR && header.length >= sizeof error) {
			memcpy(&error, payload, sizeof error);
			error.text[sizeof error.text - 1] = 0;
			return refused(t, error.error < 0 ? error.error : -EPROTO, error.text);
		}
		if (header.type == FIB_WIRE_RECORD_IS)
			rc = take_is(t, payload, header.length);
		else if (header.type == FIB_WIRE_RECORDED && t->writer)
			rc = take_events(t, payload, header.length);
	}
	if (rc == -ECONNRESET && what == FIB_WIRE_RECORD_READ) {
		t->over = true;
		return 0;
	}
	return refused(t, rc, NULL);
}

int trace_read_rings(struct trace_taking *t)
{
	int rc;

	if (!t->reads || trace_now() - t->read_at < READ_EVERY)
		return 0;
	rc = ask(t, FIB_WIRE_RECORD_READ);
	t->read_at = trace_now();
	return rc == 0 && t->over ? -ECONNRESET : rc;
}

/* -- all of it -- */

static int begin(struct trace_taking *t)
{
	struct ins_recording_head *h = &t->head;
	int rc = ask(t, FIB_WIRE_RECORD_START);

	if (rc < 0)
		return rc;
	memcpy(h->magic, INS_RECORDING_MAGIC, sizeof h->magic);
	h->version = INS_RECORDING_VERSION;
	h->order = INS_RECORDING_ORDER;
	h->ring_events = t->is.events;
	if (gethostname(h->host, sizeof h->host - 1) < 0)
		h->host[0] = 0;
	rc = ins_recording_begin(t->how->path, t->how->replace, h, t->error, &t->writer);
	if (rc == 0)
		rc = ins_recording_put(t->writer, INS_RECORDING_CLOCKS,
				       &(struct ins_recording_clock){t->is.time, t->is.now},
				       sizeof(struct ins_recording_clock));
	if (rc == 0)
		rc = trace_take_fibers(t, INS_RECORDING_FIBERS);
	t->reads = true;
	t->look_every = t->taken->fibers <= FEW	   ? LOOK_EVERY
			: t->taken->fibers <= MANY ? 5 * LOOK_EVERY
						   : 0;
	if (rc == 0) {
		fprintf(t->how->json ? stderr : stdout, "recording: Ctrl-C ends it\n");
		fflush(stdout);
	}
	/* What a look at so many takes belongs to the rings: there is one at the end. */
	if (t->taken->fibers > MANY)
		t->stacks_at = INT64_MAX;
	return rc;
}

static void look_around(struct trace_taking *t)
{
	struct ins_error ignored, *error = t->error;

	t->error = &ignored;
	/* The next reading finds out whether the process has ended. */
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
		if (left > READ_EVERY)
			left = READ_EVERY;
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
	int rc = 0;

	if (!t->over) {
		struct ins_error *error = t->error;

		t->error = &ignored;
		/* The process may end at any moment: what it has done is here. */
		if (trace_take_fibers(t, INS_RECORDING_LAST) < 0 ||
		    ask(t, FIB_WIRE_RECORD_READ) < 0 || ask(t, FIB_WIRE_RECORD_STOP) < 0)
			t->over = true;
		t->error = error;
	}
	if (t->over)
		ins_problems_add(&t->taken->problems,
				 "the process %s: the last moments, and the stacks of then, are "
				 "missing",
				 ins_process_lives(fib_wire_peer(&t->client)) ? "stopped answering"
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
	t->head.wall = now(CLOCK_REALTIME);
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
		ask(t, FIB_WIRE_RECORD_STOP);
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
	rc = rc < 0 ? refused(&t, rc, NULL) : record(&t);
	fib_wire_disconnect(&t.client);
	trace_drop_shapes(&t);
	ins_symbols_free(t.symbols);
	ins_unwinder_free(t.unwinder);
	ins_source_close(t.source);
	return rc;
}
