/* SPDX-License-Identifier: MIT */
/*
 * recording.h - the room recording/: the data of the flight recorder in a file
 *
 * Takes: events, lists of fibers and stacks of a program (recording_write.h); or an untrusted file
 *        with these (recording_format.h).
 * Gives: that file; the events of a file in order (this header), what each fiber did from when to
 *        when (replay.h), and where the time went (account.h).
 * Used by: fibertrace/ records and reads; render/ prints the results.
 *
 * The file is untrusted: everything is checked before it is used.
 */
#ifndef INS_RECORDING_H
#define INS_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/recording_format.h"
#include "inspect/text/error.h"
#include "layout/event.h"
#include "layout/layout.h"

/*
 * One event, in the order of time over all rings. An event of type COUNT is a hole: from `ns` until
 * `event.object` the ring's events were lost, `event.time` of them.
 */
struct ins_recorded {
	int64_t ns;	/* CLOCK_MONOTONIC */
	uint64_t place; /* in the file */
	uint32_t ring;
	struct fib_event event;
};

struct ins_ring {
	uint64_t runtime;
	uint32_t carrier;
	uint64_t events, lost;
};

struct ins_recording {
	struct fib_recording_head head;
	struct ins_ring *ring;
	size_t rings;
	struct ins_recorded *event; /* in order of time; without names */
	size_t events;
	uint64_t lost; /* in all rings */
	struct fib_recording_fiber *first, *last;
	size_t firsts, lasts;
	struct fib_recording_sample *sample; /* by fiber, then by `to` */
	size_t samples;
	struct fib_recording_look *look; /* in order of time; one if the writer is old */
	size_t looks;
	struct ins_recording_texts *texts; /* recording_texts.h */
};

/* Read the file at path. Returns 0, or a negative errno with error set: exit code 2. */
int ins_recording_open(const char *path, struct ins_error *error, struct ins_recording **ret);

/* Read a recording from memory; the bytes are copied. name: for messages. */
int ins_recording_read(const void *bytes, size_t size, const char *name, struct ins_error *error,
		       struct ins_recording **ret);
void ins_recording_close(struct ins_recording *recording); /* NULL: no effect */

/*
 * Unescaped texts; NULL: unknown. The function at an address; the stack of a number, where equal
 * texts have equal pointers; a fiber's name.
 */
const char *ins_recording_place(const struct ins_recording *recording, uint64_t address);
const char *ins_recording_shape(const struct ins_recording *recording, uint64_t stack);
const char *ins_recording_name(const struct ins_recording *recording, uint64_t fiber);
/*
 * The name of an object. Names are looked up only now and then, so only objects that were waited
 * for at such a time have one.
 */
const char *ins_recording_object(const struct ins_recording *recording, uint64_t object);
/* "mutex", "suspended"; never NULL. */
const char *ins_recording_kind(const struct ins_recording *recording, unsigned kind);

/* The index of the fiber's first sample with `to` not before `then`, or where it would be. */
size_t ins_recording_samples_of(const struct ins_recording *recording, uint64_t fiber,
				int64_t then);

/* Times of samples and of events come in different ways; they may differ by this, ns. */
#define FIB_RECORDING_SLACK INT64_C(20000)

/* Whether a wait in a record is for the same object as one in events. */
bool ins_recording_same_wait(uint8_t kind, uint64_t wait_object, uint64_t wait_arg,
			     uint8_t event_kind, uint64_t object, uint32_t arg);

/* The label of a fiber: `7 "req-7"`, `7 serve`, `7`. Escaped. Returns buf. */
const char *ins_recording_call(const struct ins_recording *recording, uint64_t fiber, char *buf,
			       size_t size);
/* The label of a wait: `mutex "cfg"@0x..`, `fd 17`, `sleep`. Escaped. Returns buf. */
const char *ins_recording_wait(const struct ins_recording *recording, unsigned kind,
			       uint64_t object, uint32_t arg, char *buf, size_t size);

#endif
