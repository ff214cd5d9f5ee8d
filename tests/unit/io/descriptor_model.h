/* SPDX-License-Identifier: MIT */
/*
 * descriptor_model.h - edges, generations and waiters of a descriptor, in every interleaving
 *
 * Two fibers read a descriptor, bytes arrive for it, and a third fiber closes it. After the close
 * its number is given to another file, which a fourth fiber reads while bytes arrive for that file.
 * For the first fiber that waits on a descriptor known to be new, the poller itself receives.
 *
 * The steps are those of descriptor.c, generation.c, ready.c and stream.c. What happens under a
 * queue's lock, or under the gate, is one step. Giving the file to the poller and noting that the
 * poller has it are two steps.
 *
 * The poller reports changes only: one event for each registration and one for each arrival, with
 * the token of the registration. It drops a closed file by itself (epoll), or keeps it open until
 * it is called to drop it (io_uring). It knows one file by each number.
 *
 * No fiber sleeps while it could read bytes, or on a closed descriptor. No fiber gets another
 * file's bytes. No closed file is kept open. Then each rule is left out, and the model must find
 * the violation.
 */
#ifndef TESTS_UNIT_IO_DESCRIPTOR_MODEL_H
#define TESTS_UNIT_IO_DESCRIPTOR_MODEL_H

#include "descriptor_state.h"

static void watch(struct model *m, struct reader *r)
{
	if (m->generation != r->generation || !m->number) {
		*r = ended; /* -EBADF */
		return;
	}
	register_file(m, r->generation);
	m->gate = 1;
	r->at = NOTE;
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
		if (m->watched && m->fresh)
			r->at = JOIN;
		else if (m->gate)
			return false;
		else if (broken == WATCHES_OPENLY && m->generation == r->generation)
			r->at = TELL;
		else
			watch(m, r);
		return true;
	case TELL:
		register_file(m, r->generation);
		r->at = NOTE;
		return true;
	case NOTE:
		m->watched = 1;
		m->gate = 0;
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
		if (m->gate)
			return false;
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
		if (m->gate && (m->watched || broken != LOOKS_OPENLY))
			return false;
		if (!m->fresh && !m->gate)
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
		if (m->gate)
			return false;
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

/* Bytes arrive at a file, whether or not the number refers to it. */
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

/* The first waiter does not continue until the poller has received for it. */
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

	if (m->held && m->gate)
		return false;
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

#endif
