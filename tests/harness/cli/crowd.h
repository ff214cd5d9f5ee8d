/* SPDX-License-Identifier: MIT */
/* crowd.h - what the fixtures crowd and spin print about their fibers */
#ifndef HARNESS_CLI_CROWD_H
#define HARNESS_CLI_CROWD_H

#include <jansson.h>

#include "tests/harness/cli/cli.h"

struct crowd_member {
	uint64_t id;
	char kind[24];	 /* a wait kind, or created, dead, running */
	char object[32]; /* name, descriptor or joined id; "-": none */
	char holder[32]; /* fiber id, "thread:TID"; "-": none */
	char name[32];
	int64_t since; /* ns of the monotonic clock; 0: no wait, or unknown */
};

struct crowd {
	struct harness_process *process;
	struct crowd_member *members;
	size_t count;
};

/* Start `program` (crowd, spin, or a path) with up to two arguments, wait until it is ready, parse
 * its lines. */
struct crowd crowd_start(const struct harness_how *how, const char *program, const char *first,
			 const char *second);

/* Assert that a fiber of an answer has the name, state, wait, object and holder that the crowd
 * printed. */
void crowd_agree(const struct crowd_member *member, const json_t *fiber);
/* crowd_start() for a program that was started and is ready. */
struct crowd crowd_of(struct harness_process *process);

/*
 * Wait until all suspended fibers of a process have waited so long that a snapshot proves what they
 * wait for.
 */
void crowd_grow_old(const char *pid);

/* Assert that an answer of --each has every walkable member under its name, with a complete
 * walk. */
void crowd_walked(const struct crowd *crowd, const json_t *answer);

/* End the fixture and free the members. */
void crowd_end(struct crowd *crowd);

/* The first member of a kind whose name starts with prefix; asserts that there is one. */
const struct crowd_member *crowd_find(const struct crowd *crowd, const char *kind,
				      const char *prefix);

/* The number of members of a kind; the number of kinds, distinguished by the names. */
size_t crowd_count(const struct crowd *crowd, const char *kind);
size_t crowd_kinds(const struct crowd *crowd);

/* Whether its stack exists and does not change: the fiber is neither running nor dead. */
bool crowd_walkable(const struct crowd_member *member);

#endif
