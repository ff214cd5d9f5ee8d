/* SPDX-License-Identifier: MIT */
/*
 * descriptor_model.h - edges, generations and those who wait for a descriptor, in every interleaving
 *
 * Two fibers read a descriptor, bytes come for it, and a third closes it. As soon as it is closed somebody gets its number for
 * another file, which a fourth reads while bytes come for that. For the first who waits on one that is known to be new the
 * poller receives itself. The steps are those of descriptor.c, generation.c, ready.c and stream.c; what happens
 * under a queue's lock, or under the gate, is one step. The poller tells of changes only, once for each registration
 * and for each arrival, with the token of who registered. What is closed it lets go of by itself (epoll), or keeps open until
 * it is told to (io_uring); it knows one file by each number.
 *
 * Nobody sleeps beside bytes that he could read, nor on a descriptor that has been closed, nor is given a stranger's
 * bytes, and no closed file is kept open. Then each rule is left out, and the model must find who does.
 */
#ifndef TESTS_UNIT_IO_DESCRIPTOR_MODEL_H
#define TESTS_UNIT_IO_DESCRIPTOR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { ONE, TWO, HEIR, CLOSER, OPENER, WIRE, POLLER, ACTORS };
#define READERS CLOSER

enum { NONE, OLD, NEW, FILES }; /* which file the number leads to */

enum at {
	LOOK_GENERATION,
	LOOK_EDGES,
	TRY,
	WATCH, /* give it to the poller, under the gate */
	TOLD,  /* WATCHES_OPENLY: between the look and the telling */
	JOIN,
	ASLEEP,
	HELD,	/* its wait is decided, and the poller receives for it */
	CHECK,	/* whether it was closed meanwhile */
	LET_GO, /* LETS_GO_OPENLY: the closer tells the poller */
	RENEW,	/* that, and a new generation, under the gate */
	WAKE,
	CLOSE,	      /* close(2) */
	LET_GO_AGAIN, /* under the gate */
	WAKE_AGAIN,
	OPEN,	     /* the opener: another file, the same number */
	RENEW_FRESH, /* fiber_accept: known to be new */
	WAKE_FRESH,
	BEGIN, /* its reader */
	END,
};

enum broken {
	NOTHING,
	JOINS_BLINDLY,	      /* joins the queue whatever has happened since the look */
	JOINS_A_STRANGER,     /* joins the queue of whatever has the number now */
	TRIES_FIRST,	      /* notes the edges after the try */
	WATCHES_OPENLY,	      /* no gate: the generation may change while the poller is told */
	WAKES_ONCE,	      /* the closer does not wake again after close(2) */
	WAKES_NOBODY,	      /* nor before */
	WAKES_BEFORE,	      /* wakes, and then counts the edge */
	RECEIVES_FOR_ANYBODY, /* also for one who has come to wait for what was closed */
	LETS_GO_OPENLY, /* no gate: somebody may give it to the poller once more before the generation has changed */
	LETS_GO_ONCE, /* not again after close(2) */
	RECEIVES_OPENLY, /* no gate: the number may be closed and used again before it is received from */
};

/* What a reader has noted and needs no more is 0, so that states which differ in nothing else are one state. */
struct reader {
	uint8_t at, generation, woken, queued;
	uint8_t missed; /* an edge came since it looked at how many there were */
	uint8_t file;	/* that it tried */
};

struct model {
	uint8_t fresh, accepts; /* the number is from fiber_accept; the next one will be */
	struct reader r[READERS];
	uint8_t closer, opener, generation, number; /* where the number leads to now */
	uint8_t keeps,
		watched;      /* the poller keeps files open; it has it, not for which generation */
	uint8_t token[FILES]; /* of who registered the file, 0 none */
	uint8_t bytes[FILES], to_come[FILES];
	uint8_t event[FILES]; /* the poller will tell of it */
	uint8_t half;	      /* WAKES_BEFORE: the edge that is not counted yet */
	uint8_t held;	      /* for whom the poller receives, + 1 */
	uint8_t for_token;    /* of the event for which it does */
	uint8_t trusts;	      /* RECEIVES_OPENLY: it has looked at the generation */
	uint8_t stolen;	      /* somebody was given what is not his */
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

/* By its number. */
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
	m->watched = 1;
}

static void watch(struct model *m, struct reader *r)
{
	r->at = JOIN;
	if (m->watched && m->fresh)
		return;
	if (m->generation != r->generation || !m->number)
		*r = ended; /* -EBADF */
	else if (broken == WATCHES_OPENLY)
		r->at = TOLD;
	else
		register_file(m, r->generation);
}

static bool step_reader(struct model *m, struct reader *r)
{
	switch (r->at) {
	case LOOK_GENERATION:
		r->generation = m->generation;
		r->at = broken == TRIES_FIRST ? TRY : LOOK_EDGES;
		return true;
	case LOOK_EDGES:
		r->missed = 0;
		r->at = broken == TRIES_FIRST ? WATCH : TRY;
		return true;
	case TRY:
		r->file = m->number;
		r->at = broken == TRIES_FIRST ? LOOK_EDGES : WATCH;
		if (!m->number || m->bytes[m->number]) {
			m->bytes[m->number] -= m->number && m->bytes[m->number];
			*r = ended;
		}
		return true;
	case WATCH:
		watch(m, r);
		return true;
	case TOLD:
		register_file(m, r->generation);
		r->at = JOIN;
		return true;
	case JOIN:
		r->at = ASLEEP;
		if ((!r->missed || broken == JOINS_BLINDLY) &&
		    (m->generation == r->generation || broken == JOINS_A_STRANGER))
			r->queued = 1;
		else
			r->at = CHECK;
		r->missed = 0;
		return true;
	case ASLEEP:
		if (!r->woken)
			return false;
		r->at = CHECK;
		return true;
	case CHECK:
		*r = (struct reader){.at = m->generation == r->generation ? LOOK_GENERATION : END};
		return true;
	default:
		return false;
	}
}

static bool step_closer(struct model *m)
{
	uint8_t *at = &m->closer;

	switch (*at) {
	case LET_GO:
		let_go(m);
		*at = RENEW;
		return true;
	case RENEW:
		if (broken == LETS_GO_OPENLY)
			m->watched = 0;
		renew(m, 0);
		*at = broken == WAKES_NOBODY ? CLOSE : WAKE;
		return true;
	case WAKE:
		wake_side(m);
		*at = CLOSE;
		return true;
	case CLOSE:
		m->number = NONE;
		if (!m->keeps)
			unregister(m, OLD);
		*at = broken == LETS_GO_ONCE ? WAKE_AGAIN : LET_GO_AGAIN;
		return true;
	case LET_GO_AGAIN:
		if (!m->fresh)
			let_go(m);
		*at = broken == WAKES_ONCE || broken == WAKES_NOBODY ? END : WAKE_AGAIN;
		return true;
	case WAKE_AGAIN:
		wake_side(m);
		*at = END;
		return true;
	default:
		return false;
	}
}

static bool step_opener(struct model *m)
{
	uint8_t *at = &m->opener;

	switch (*at) {
	case OPEN:
		if (m->number)
			return false;
		m->number = NEW;
		*at = m->accepts ? RENEW_FRESH : BEGIN;
		return true;
	case RENEW_FRESH:
		renew(m, 1);
		*at = WAKE_FRESH;
		return true;
	case WAKE_FRESH:
		wake_side(m);
		*at = BEGIN;
		return true;
	case BEGIN:
		m->r[HEIR].at = LOOK_GENERATION;
		*at = END;
		return true;
	default:
		return false;
	}
}

/* Bytes arrive at a file, whether the number leads there or not. */
static bool step_wire(struct model *m)
{
	unsigned file;

	for (file = OLD; file < FILES; file++) {
		if (!m->to_come[file] || (file == NEW && m->number != NEW))
			continue;
		m->to_come[file]--;
		m->bytes[file]++;
		m->event[file] = m->token[file] != 0;
		return true;
	}
	return false;
}

/* The first who waits goes nowhere until it has been received for him. */
static void hold_first(struct model *m, uint8_t token)
{
	unsigned i = 0;

	while (i < READERS && !m->r[i].queued)
		i++;
	if (i == READERS)
		return;
	m->r[i].queued = 0;
	m->r[i].at = HELD;
	m->held = (uint8_t)(i + 1);
	m->for_token = token;
}

static void receive(struct model *m)
{
	struct reader *r = &m->r[m->held - 1];

	if (broken == RECEIVES_OPENLY && !m->trusts && m->for_token == m->generation) {
		m->trusts = 1;
		return;
	}
	r->at = CHECK;
	if ((m->trusts || m->for_token == m->generation) &&
	    (r->generation == m->for_token || broken == RECEIVES_FOR_ANYBODY) &&
	    m->bytes[m->number]) {
		m->bytes[m->number]--;
		m->stolen = m->number != r->file;
		*r = ended;
	}
	m->held = m->for_token = m->trusts = 0;
}

static bool step_poller(struct model *m)
{
	unsigned file;

	if (m->held) {
		receive(m);
		return true;
	}
	if (m->half) {
		m->half = 0;
		count_edge(m);
		return true;
	}
	for (file = OLD; file < FILES; file++) {
		if (!m->event[file])
			continue;
		m->event[file] = 0;
		if (m->token[file] != m->generation)
			return true;
		if (broken == WAKES_BEFORE) {
			wake_all(m);
			m->half = 1;
			return true;
		}
		if (m->fresh)
			hold_first(m, m->token[file]);
		wake_side(m);
		return true;
	}
	return false;
}

static bool step(void *state, unsigned who)
{
	struct model *m = state;

	switch (who) {
	case CLOSER:
		return step_closer(m);
	case OPENER:
		return step_opener(m);
	case WIRE:
		return step_wire(m);
	case POLLER:
		return step_poller(m);
	default:
		return step_reader(m, &m->r[who]);
	}
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
