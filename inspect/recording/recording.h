/* SPDX-License-Identifier: MIT */
/*
 * recording.h - the room recording/: what a flight recorder has noted, in a file
 *
 * Takes: events, lists of fibers and stacks of a program; or a file with these, from a stranger.
 * Gives: that file; read again, the events in order (this header), what each fiber did from when to
 *        when (replay.h), and where the time went (account.h).
 * Used by: fibertrace/ records and reads; render/ shows what is here.
 *
 * A head, then sections until the end: each a type and a size, then so many bytes. A reader passes over types it does not know.
 * Numbers are in the order of bytes of the machine that recorded. Whoever wrote the file is a stranger: everything is
 * checked before it is used.
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
#define INS_RECORDING_MAX     ((uint64_t)4 << 30) /* bytes of a file that is read */

struct ins_recording_head {
	char magic[8];
	uint32_t version;
	uint32_t order; /* INS_RECORDING_ORDER as the writer has it */
	int32_t pid;
	uint32_t ring_events; /* that a ring held */
	int64_t wall;	      /* ns of CLOCK_REALTIME at its end */
	int64_t began, ended; /* ns of CLOCK_MONOTONIC; ended 0: the file is not whole */
	char name[64];	      /* of the program */
	char host[64];
};
#define INS_RECORDING_ORDER 0x01020304u

enum ins_recording_section {
	INS_RECORDING_CLOCKS = 1, /* struct ins_recording_clock... */
	INS_RECORDING_EVENTS = 2, /* struct ins_recording_events, then events */
	INS_RECORDING_FIBERS =
		3,		/* struct ins_recording_fiber...: those there were when it began */
	INS_RECORDING_LAST = 4, /* the same, those there were when it ended */
	INS_RECORDING_PLACES = 5, /* struct ins_recording_text, its text...: names of functions */
	INS_RECORDING_STACKS =
		6, /* the same, of older writers: of fibers that waited when it ended */
	INS_RECORDING_WORDS = 7,    /* the same: 0..: wait kinds; 256..: states */
	INS_RECORDING_OBJECTS = 8,  /* the same: names of what was waited for, by its address */
	INS_RECORDING_SHAPES = 9,   /* the same: stacks by a number from 1, outermost first */
	INS_RECORDING_SAMPLES = 10, /* struct ins_recording_sample...: who waited where */
	INS_RECORDING_LOOKS = 11,   /* struct ins_recording_look...: when that was looked at */
};

struct ins_recording_part {
	uint32_t type; /* enum ins_recording_section */
	uint32_t unused;
	uint64_t size; /* of what follows */
};

struct ins_recording_clock {
	uint64_t time; /* ticks */
	int64_t ns;    /* CLOCK_MONOTONIC at that moment */
};

struct ins_recording_events {
	uint64_t runtime;
	uint32_t carrier; /* FIB_EVENT_OUTSIDE: everybody else's */
	uint32_t count;
	uint64_t lost; /* before these, since the last ones of this ring */
};

struct ins_recording_fiber {
	uint64_t id, entry, wait_object, wait_arg, parent;
	int64_t since; /* ns of CLOCK_MONOTONIC */
	int64_t seen;  /* the same: a moment before it was looked at */
	uint8_t state, wait_kind;
	uint16_t carrier;
	uint32_t unused;
	char name[32];
	char object_name[32];
};

/* At some moment between two the fiber waited so, and there. Times are ns of CLOCK_MONOTONIC. */
struct ins_recording_sample {
	uint64_t fiber;
	uint64_t stack; /* its number */
	uint64_t wait_object, wait_arg;
	int64_t since; /* of the coarse clock: the wait did not begin earlier */
	int64_t from, to;
	uint8_t wait_kind;
	uint8_t unused[7];
};

/* All stacks were looked at in this time. */
struct ins_recording_look {
	int64_t from, to;
	uint64_t fibers; /* that there were */
	uint64_t stacks; /* that were kept; the others ran, ... */
	uint64_t left;	 /* ... or there was no room for them in the file */
};

struct ins_recording_text {
	uint64_t key; /* an address, a fiber's id, a number */
	uint32_t size;
	uint32_t unused;
};

/* -- reading -- */

/* One event, in the order of time over all rings. A type of COUNT is a hole: from `ns` until `event.object` this ring's events
 * were lost, `event.time` of them. */
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
	struct ins_recorded *event; /* in order of time; names are not among them */
	size_t events;
	uint64_t lost; /* in all rings */
	struct ins_recording_fiber *first, *last;
	size_t firsts, lasts;
	struct ins_recording_sample *sample; /* by fiber, then by `to` */
	size_t samples;
	struct ins_recording_look *look; /* in order of time; of an older writer: one */
	size_t looks;
	struct ins_recording_texts *texts; /* recording_texts.h */
};

/* Read the file at path. 0, or a negative errno with error set: exit code 2. */
int ins_recording_open(const char *path, struct ins_error *error, struct ins_recording **ret);

/* The same of bytes in memory, which are copied. name: for messages. */
int ins_recording_read(const void *bytes, size_t size, const char *name, struct ins_error *error,
		       struct ins_recording **ret);
void ins_recording_close(struct ins_recording *recording); /* NULL: nothing */

/* Texts of strangers; NULL: not known. The function at an address; the stack of that number, where the same text is the same
 * pointer; a fiber's name. */
const char *ins_recording_place(const struct ins_recording *recording, uint64_t address);
const char *ins_recording_shape(const struct ins_recording *recording, uint64_t stack);
const char *ins_recording_name(const struct ins_recording *recording, uint64_t fiber);
/* The name of an object that somebody waited for when it was looked for names, which is now and then. */
const char *ins_recording_object(const struct ins_recording *recording, uint64_t object);
/* "mutex", "suspended"; never NULL. */
const char *ins_recording_kind(const struct ins_recording *recording, unsigned kind);

/* The first sample of the fiber that is not of before `then`; or where it would be. */
size_t ins_recording_samples_of(const struct ins_recording *recording, uint64_t fiber,
				int64_t then);

/* Times of samples and of events come over different ways: they may be so far apart, ns. */
#define INS_RECORDING_SLACK INT64_C(20000)

/* Whether a wait that a record tells of is for the same as one of events. */
bool ins_recording_same_wait(uint8_t kind, uint64_t wait_object, uint64_t wait_arg,
			     uint8_t event_kind, uint64_t object, uint32_t arg);

/* What a fiber is called: `7 "req-7"`, `7 serve`, `7`. Plain. Returns buf. */
const char *ins_recording_call(const struct ins_recording *recording, uint64_t fiber, char *buf,
			       size_t size);
/* What is waited for: `mutex "cfg"@0x..`, `fd 17`, `sleep`. Plain. Returns buf. */
const char *ins_recording_wait(const struct ins_recording *recording, unsigned kind,
			       uint64_t object, uint32_t arg, char *buf, size_t size);

/* -- writing -- */

struct ins_recording_writer;

/* Begin a draft beside path; nothing is at path before _end(). replace: what is there may go. -EEXIST, ... with error set. */
int ins_recording_begin(const char *path, bool replace, const struct ins_recording_head *head,
			struct ins_error *error, struct ins_recording_writer **ret);
/* Append a section, or more to one that is open: pieces of the same type one after another become one. */
int ins_recording_put(struct ins_recording_writer *w, enum ins_recording_section type,
		      const void *bytes, size_t size);
/* Of EVENTS: a section of its own each. */
int ins_recording_put_events(struct ins_recording_writer *w, const struct ins_recording_events *e,
			     const struct fib_event *events);
int ins_recording_put_text(struct ins_recording_writer *w, enum ins_recording_section type,
			   uint64_t key, const char *text);
/* Done, head as it is in the end. Or not: the draft goes. Both free w. The first error of all is what _end() returns. */
int ins_recording_end(struct ins_recording_writer *w, const struct ins_recording_head *head,
		      struct ins_error *error);
void ins_recording_drop(struct ins_recording_writer *w);

#endif
