/* SPDX-License-Identifier: MIT */
/* lacks.c - report what a read of memory did not find */
#include "inspect/source/lacks.h"

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void ins_lacks_say(const struct ins_lacks *lacks, bool core, struct ins_problems *problems)
{
	if (lacks->vanished)
		ins_problems_add(problems, "%llu fiber%s could not be read any more",
				 (unsigned long long)lacks->vanished, plural(lacks->vanished));
	if (lacks->unresolved)
		ins_problems_add(problems,
				 "what %llu fiber%s for %s: holder and name of it are missing",
				 (unsigned long long)lacks->unresolved,
				 lacks->unresolved == 1 ? " waits" : "s wait",
				 core ? "is not in the core" : "could not be read");
	if (lacks->overlapping)
		ins_problems_add(problems,
				 "the stacks of %llu fiber%s were not read: together they claim "
				 "more memory than %s has",
				 (unsigned long long)lacks->overlapping, plural(lacks->overlapping),
				 core ? "the core" : "the process");
	if (lacks->unlabelled)
		ins_problems_add(problems, "the labels of %llu fiber%s %s",
				 (unsigned long long)lacks->unlabelled, plural(lacks->unlabelled),
				 core ? "are not in the core" : "could not be read");
}
