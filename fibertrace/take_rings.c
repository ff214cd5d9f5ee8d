/* SPDX-License-Identifier: MIT */
/*
 * take_rings.c - read the rings of events and write them to the file
 *
 * One connection is for the rings only. Each reading returns the events since the last one, and a
 * pair of the program's ticks and the time.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "fibertrace/taking.h"
#include "inspect/process/silence.h"

int64_t trace_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int trace_refused(struct trace_taking *t, int rc, const char *why)
{
	char silence[INS_ACCESS_EXPLAIN_SIZE];

	if (rc == -ETIMEDOUT || rc == -ECONNREFUSED)
		why = ins_process_silence(t->how->socket, 0, rc, silence, sizeof silence);
	else if (rc == -ETIME)
		why = "its answer does not end";
	else if (rc == -EMSGSIZE)
		why = "it announces a longer frame than any answer has";
	else if (rc == -ECONNRESET)
		why = ins_process_is_alive(fib_wire_peer(&t->client))
			      ? "the program knows no flight recorder, being older than this tool, "
				"or its seccomp filter refuses a system call (libfiber(7))"
			      : "the process ended, or knows no flight recorder: it is older than "
				"this tool";
	return ins_error_set(t->error, rc, "%s: %s", t->how->socket,
			     why && why[0] ? why : strerror(-rc));
}

#define PIECE 1024u /* events, at most, of what the program sends at once */

/* The program sends at most a ring's capacity, plus the piece that it had started. */
static bool is_too_much(struct trace_taking *t, uint32_t count)
{
	t->reading += count;
	return t->reading > t->rings * (2 * (uint64_t)t->is.events + PIECE);
}

/* The number of events of the ring that were lost since the last reading. */
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
	struct fib_recording_events part = {0};
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
	/* A ring without events is recorded too, to show that it existed. */
	return ins_recording_put_events(t->writer, &part, event);
}

static int take_is(struct trace_taking *t, const void *payload, size_t length)
{
	struct fib_recording_clock clock;

	if (length < sizeof t->is)
		return -EPROTO;
	memcpy(&t->is, payload, sizeof t->is);
	if (!t->is.runtimes)
		return 0;
	clock = (struct fib_recording_clock){t->is.time, t->is.now};
	if (!t->head.began)
		t->head.began = t->is.now;
	t->head.ended = t->is.now;
	return t->writer ? ins_recording_put(t->writer, FIB_RECORDING_CLOCKS, &clock, sizeof clock)
			 : 0;
}

int trace_ask_rings(struct trace_taking *t, enum fib_wire_record_what what)
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
			return trace_refused(t, error.error < 0 ? error.error : -EPROTO,
					     error.text);
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
	return trace_refused(t, rc, NULL);
}

int trace_read_rings(struct trace_taking *t)
{
	int rc;

	if (!t->reads || trace_now() - t->read_at < TRACE_READ_EVERY)
		return 0;
	rc = trace_ask_rings(t, FIB_WIRE_RECORD_READ);
	t->read_at = trace_now();
	return rc == 0 && t->over ? -ECONNRESET : rc;
}
