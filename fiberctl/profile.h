/* SPDX-License-Identifier: MIT */
/*
 * profile.h - make a profile of a running program: what the command 'profile' collects, and how
 *
 * profile_cpu.c asks the program for samples of its carriers; profile_waits.c looks at its waiting
 * fibers itself. Both stop early when the user interrupts the tool or the program ends.
 */
#ifndef FIBERCTL_PROFILE_H
#define FIBERCTL_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/model/source.h"
#include "inspect/query/profile.h"
#include "inspect/unwind/unwind.h"

struct ctl_profile {
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_profile *profile;
	int64_t length; /* ns that are wanted */
	bool block;	/* waits: only those for what others hold, and behind whom */
	/* The result. */
	int64_t took;	     /* ns */
	int64_t looking;     /* ns of that spent on looks at fibers, without the first one */
	uint64_t looks;	     /* at fibers */
	uint64_t lost;	     /* samples */
	uint64_t walked;     /* samples with a stack */
	uint64_t without[5]; /* samples without one, by enum fib_wire_lack */
	bool begun;	     /* there is something to show */
	struct ins_problems problems;
};

/*
 * Collect. 0, also if the program has ended meanwhile, which is then one of the problems; or a
 * negative errno with error set, if nothing could be collected.
 */
int ctl_profile_cpu(struct ctl_profile *p, struct ins_error *error);
int ctl_profile_waits(struct ctl_profile *p, struct ins_error *error);

#endif
