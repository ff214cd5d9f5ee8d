/* SPDX-License-Identifier: MIT */
/*
 * recording.h - the room recording/: the data of the flight recorder in a file
 *
 * Takes: events, lists of fibers and stacks of a program; or an untrusted file with these.
 * Gives: that file; the events of a file in order (this header), what each fiber did from when to
 *        when (replay.h), and where the time went (account.h).
 * Used by: fibertrace/ records and reads; render/ prints the results.
 *
 * The file has a head, then sections until its end. A section is a type, a size and that many
 * bytes. A reader skips unknown types. Numbers are in the byte order of the machine that recorded.
 * The file is untrusted: everything is checked before it is used.
 */
#ifndef INS_RECORDING_H
#define INS_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/text/error.h"
#include "layout/event.h"
#include "layout/layout.h"

#define INS_RECORDING_MAGIC   "fibrrec\n"
#define INS_RECORDING_VERSION 1u
#define INS_RECORDING_MAX     ((uint64_t)4 << 30) /* largest file that is read */

struct ins_recording_head {
	char magic[8];
	uint32_t version;
	uint32_t order; /* INS_RECORDING_ORDER in the writer's byte order */
	int32_t pid;
	uint32_t ring_events; /* capacity of a ring */
	int64_t wall;	      /* ns of CLOCK_REALTIME at the end */
	int64_t began, ended; /* ns of CLOCK_MONOTONIC; ended 0: the file is incomplete */
	char name[64];	      /* of the program */
	char host[64];
};
#define INS_RECORDING_ORDER 0x01020304u

/* A section of texts has any number of struct ins_recording_text, each followed by its text. */
enum ins_recording_section {
	INS_RECORDING_CLOCKS = 1, /* struct ins_recording_clock... */
	INS_RECORDING_EVENTS = 2, /* struct ins_recording_events, then events */
	INS_RECORDING_FIBERS = 3, /* struct ins_recording_fiber...: the fibers at the start */
	INS_RECORDING_LAST = 4,	  /* struct ins_recording_fiber...: the fibers at the end */
	INS_RECORDING_PLACES = 5, /* texts: names of functions, by address */
	INS_RECORDING_STACKS =
		6, /* texts of older writers: stacks of fibers that waited at the end */
	INS_RECORDING_WORDS = 7,    /* texts: 0..: wait kinds; 256..: states */
	INS_RECORDING_OBJECTS = 8,  /* texts: names of objects that were waited for, by address */
	INS_RECORDING_SHAPES = 9,   /* texts: stacks by a number from 1, outermost first */
	INS_RECORDING_SAMPLES = 10, /* struct ins_recording_sample...: where fibers waited */
	INS_RECORDING_LOOKS = 11,   /* struct ins_recording_look...: when stacks were sampled */
};

struct ins_recording_part {
	uint32_t type; /* enum ins_recording_section */
	uint32_t unused;
	uint64_t size; /* of the contents */
};

struct ins_recording_clock {
	uint64_t time; /* ticks */
	int64_t ns;    /* CLOCK_MONOTONIC at that moment */
};

struct ins_recording_events {
	uint64_t runtime;
	uint32_t carrier; /* FIB_EVENT_OUTSIDE: the ring of all other threads */
	uint32_t count;
	uint64_t lost; /* events lost before these, since the last ones of this ring */
};

struct ins_recording_fiber {
	uint64_t id, entry, wait_object, wait_arg, parent;
	int64_t since; /* ns of CLOCK_MONOTONIC */
	int64_t seen;  /* ns of CLOCK_MONOTONIC: a moment before the fiber was read */
	uint8_t state, wait_kind;
	uint16_t carrier;
	uint32_t unused;
	char name[32];
	char object_name[32];
};

/*
 * At some moment between from and to the fiber was in this wait, with this stack. Times are ns of
 * CLOCK_MONOTONIC.
 */
struct ins_recording_sample {
	uint64_t fiber;
	uint64_t stack; /* its number */
	uint64_t wait_object, wait_arg;
	int64_t since; /* of the coarse clock: the wait did not start earlier */
	int64_t from, to;
	uint8_t wait_kind;
	uint8_t unused[7];
};

/* One round of sampling: all its stacks were read in this time. */
struct ins_recording_look {
	int64_t from, to;
	uint64_t fibers; /* that existed */
	uint64_t stacks; /* that were kept; the others ran, ... */
	uint64_t left;	 /* ... or the file had no room for them */
};

struct ins_recording_text {
	uint64_t key; /* an address, a fiber's id, a number */
	uint32_t size;
	uint32_t unused;
};

/* -- reading -- */

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
	struct ins_recording_head head;
	struct ins_ring *ring;
	size_t rings;
	struct ins_recorded *event; /* in order of time; without names */
	size_t events;
	uint64_t lost; /* in all rings */
	struct ins_recording_fiber *first, *last;
	size_t firsts, lasts;
	struct ins_recording_sample *sample; /* by fiber, then by `to` */
	size_t samples;
	struct ins_recording_look *look; /* in order of time; one if the writer is old */
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
#define INS_RECORDING_SLACK INT64_C(20000)

/* Whether a wait in a record is for the same object as one in events. */
bool ins_recording_same_wait(uint8_t kind, uint64_t wait_object, uint64_t wait_arg,
			     uint8_t event_kind, uint64_t object, uint32_t arg);

/* The label of a fiber: `7 "req-7"`, `7 serve`, `7`. Escaped. Returns buf. */
const char *ins_recording_call(const struct ins_recording *recording, uint64_t fiber, char *buf,
			       size_t size);
/* The label of a wait: `mutex "cfg"@0x..`, `fd 17`, `sleep`. Escaped. Returns buf. */
const char *ins_recording_wait(const struct ins_recording *recording, unsigned kind,
			       uint64_t object, uint32_t arg, char *buf, size_t size);

/* -- writing -- */

struct ins_recording_writer;

/*
 * Start a draft beside path; path changes only in _end(). replace: an existing file may be
 * replaced. -EEXIST, ... with error set.
 */
int ins_recording_begin(const char *path, bool replace, const struct ins_recording_head *head,
			struct ins_error *error, struct ins_recording_writer **ret);
/*
 * Append a section, or extend the open one: consecutive pieces of the same type form one section.
 */
int ins_recording_put(struct ins_recording_writer *w, enum ins_recording_section type,
		      const void *bytes, size_t size);
/* Append EVENTS: each call makes a section of its own. */
int ins_recording_put_events(struct ins_recording_writer *w, const struct ins_recording_events *e,
			     const struct fib_event *events);
int ins_recording_put_text(struct ins_recording_writer *w, enum ins_recording_section type,
			   uint64_t key, const char *text);
/*
 * Complete the file with the final head, or drop the draft. Both free w. _end() returns the first
 * error of all calls.
 */
int ins_recording_end(struct ins_recording_writer *w, const struct ins_recording_head *head,
		      struct ins_error *error);
void ins_recording_drop(struct ins_recording_writer *w);

#endif
