/* SPDX-License-Identifier: MIT */
/* descriptor_state.h - the state of the model in descriptor_model.h, and what is wrong with it */
#ifndef TESTS_UNIT_IO_DESCRIPTOR_STATE_H
#define TESTS_UNIT_IO_DESCRIPTOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum { ONE, TWO, HEIR, CLOSER, OPENER, WIRE, POLLER, ACTORS };
#define READERS CLOSER

enum { NONE, OLD, NEW, FILES }; /* the file that the number refers to */

enum at {
	LOOK_GENERATION,
	LOOK_EDGES,
	TRY,
	WATCH, /* give the file to the poller, under the gate */
	TELL,  /* WATCHES_OPENLY: between the look and the call of the poller */
	NOTE,  /* note that the poller has it; the gate is held until then */
	JOIN,
	ASLEEP,
	HELD,	/* its wait is decided, and the poller receives bytes for it */
	CHECK,	/* check whether it was closed meanwhile */
	LET_GO, /* LETS_GO_OPENLY: the closer makes the poller drop it */
	RENEW,	/* drop it and set a new generation, under the gate */
	WAKE,
	CLOSE,	      /* close(2) */
	LET_GO_AGAIN, /* under the gate */
	WAKE_AGAIN,
	OPEN,	     /* the opener: another file, the same number */
	RENEW_FRESH, /* fiber_accept: known to be new */
	WAKE_FRESH,
	BEGIN, /* its reader starts */
	END,
};

enum broken {
	NOTHING,
	JOINS_BLINDLY,	      /* joins the queue whatever has happened since the look */
	JOINS_A_STRANGER,     /* joins the queue of the file that now has the number */
	TRIES_FIRST,	      /* notes the edges after the try */
	WATCHES_OPENLY,	      /* no gate: the generation may change during the poller's call */
	WAKES_ONCE,	      /* the closer does not wake again after close(2) */
	WAKES_NOBODY,	      /* the closer wakes no waiter at all */
	WAKES_BEFORE,	      /* wakes, and then counts the edge */
	RECEIVES_FOR_ANYBODY, /* also for a fiber that came to wait for the closed file */
	LETS_GO_OPENLY,	 /* no gate: the poller may get it again before the generation changes */
	LETS_GO_ONCE,	 /* not again after close(2) */
	LOOKS_OPENLY,	 /* looks without the gate whether there is something to drop again */
	RECEIVES_OPENLY, /* no gate: the number may be reused before the poller receives from it */
};

/* A noted value that a reader no longer needs is reset to 0, so that equal states are one state. */
struct reader {
	uint8_t at, generation, woken, queued;
	uint8_t missed; /* an edge came since it read the count of edges */
	uint8_t file;	/* the file that it tried */
};

struct model {
	uint8_t fresh, accepts; /* the number is from fiber_accept; the next number will be, too */
	struct reader r[READERS];
	uint8_t closer, opener, generation, number; /* the file that the number refers to */
	uint8_t keeps,
		watched;      /* the poller keeps files open; the poller has it (any generation) */
	uint8_t gate;	      /* held */
	uint8_t token[FILES]; /* of the file's registration, 0 none */
	uint8_t bytes[FILES], to_come[FILES];
	uint8_t event[FILES]; /* the poller will report the file */
	uint8_t half;	      /* WAKES_BEFORE: the edge that is not counted yet */
	uint8_t held;	      /* index + 1 of the fiber for which the poller receives bytes */
	uint8_t for_token;    /* token of the event for which the poller receives bytes */
	uint8_t trusts;	      /* RECEIVES_OPENLY: the poller has looked at the generation */
	uint8_t stolen;	      /* a fiber got another file's bytes */
};

static enum broken broken;
static const struct reader ended = {.at = END};

static void wake_all(struct model *m)
{
	unsigned i;

	for (i = 0; i < READERS; i++) {
		m->r[i].woken |= m->r[i].queued;
		m->r[i].queued = 0;
	}
}

static void count_edge(struct model *m)
{
	unsigned i;

	for (i = 0; i < READERS; i++)
		m->r[i].missed = m->r[i].at >= TRY && m->r[i].at <= JOIN;
}

static void wake_side(struct model *m)
{
	count_edge(m);
	wake_all(m);
}

static void unregister(struct model *m, unsigned file)
{
	m->token[file] = m->event[file] = 0;
}

/* Drop the file that has the number. */
static void let_go(struct model *m)
{
	unsigned file;

	for (file = OLD; file < FILES; file++)
		if (m->watched && (m->keeps || m->number == file))
			unregister(m, file);
	m->watched = 0;
}

static void renew(struct model *m, uint8_t fresh)
{
	let_go(m);
	m->generation++;
	m->fresh = fresh;
}

static void register_file(struct model *m, uint8_t generation)
{
	if (!m->number)
		return;
	if (m->keeps)
		unregister(m, m->number == OLD ? NEW : OLD);
	m->token[m->number] = generation;
	m->event[m->number] = m->bytes[m->number] > 0;
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;
	unsigned i;

	if (m->stolen)
		return "a fiber was given a stranger's bytes";
	if (m->token[OLD] && m->number != OLD && m->closer == END)
		return "the poller keeps a closed file open";
	if (!final)
		return NULL;
	for (i = 0; i < READERS; i++) {
		if (m->r[i].at != ASLEEP)
			continue;
		if (m->r[i].generation != m->generation || m->r[i].file != m->number)
			return "a fiber sleeps on what was closed";
		if (m->bytes[m->number])
			return "a fiber sleeps beside its bytes";
	}
	return NULL;
}

#endif
