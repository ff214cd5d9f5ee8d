/* SPDX-License-Identifier: MIT */
/*
 * target.h - one program that is asked, its worker process and its turns
 *
 * A turn begins with all wanted questions and ends when the worker has sent all answers.
 */
#ifndef SERVE_TARGET_H
#define SERVE_TARGET_H

#include "fiberctl/serve/entry.h"
#include "fiberctl/serve/history.h"
#include "fiberctl/serve/link.h"
#include "fiberctl/serve/programs.h"

struct serve_target {
	struct serve_found found;
	struct serve_entries entries;
	uint64_t look;		       /* counts its turns */
	int64_t next;		       /* no turn before; ns */
	int64_t next_of[SERVE_SHARES]; /* no turn with a question of that share before; ns */
	int64_t spent, spent_at;       /* ns of CPU time for OTHER, and when that was computed */
	int64_t began;		       /* the current turn; 0: none */
	int64_t used;		       /* the last question; ns */
	pid_t worker;		       /* 0: none */
	int fd;			       /* of the link; -1 */
	/* What arrives from the worker: */
	struct serve_frame frame;
	size_t have; /* bytes of it */
	char *body;  /* what follows the frame; NULL: the frame is not complete */
	size_t got;  /* bytes of that */
	struct serve_history history;
};

/* NULL: no memory. */
struct serve_target *serve_target_new(const struct serve_found *found);

/* Start the worker. False: the system has no process left. */
bool serve_target_start(struct serve_target *target);

/* End the worker, also in the middle of a turn. */
void serve_target_stop(struct serve_target *target);

/*
 * When a question of that share may be asked again; when the next turn is due, INT64_MAX: never.
 */
int64_t serve_target_due(const struct serve_target *target, enum serve_share share);
int64_t serve_target_next(const struct serve_target *target);

/* Begin a turn; there is a worker. False: it has ended. */
bool serve_target_turn(struct serve_target *target, int64_t now);

/* The turn has failed: give an error to those who wait for its answers. bytes: of all answers. */
void serve_target_fail(struct serve_target *target, unsigned status, const char *why,
		       size_t *bytes);

/* Read what the worker has sent. bytes: of all answers. False: it has ended, or sends nonsense. */
bool serve_target_read(struct serve_target *target, size_t *bytes);

void serve_target_drop(struct serve_target *target, size_t *bytes);

#endif
