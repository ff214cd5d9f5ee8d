/* SPDX-License-Identifier: MIT */
/* doing.c - what a fiber does that runs: it computes, or is in a system call */
#include "inspect/why/doing.h"

#include "inspect/model/running.h"

const char *ins_why_doing(const struct ins_look *look, const struct ins_fiber *fiber, char *buf,
			  size_t size)
{
	struct ins_running running;

	buf[0] = 0;
	if (ins_look_waits(fiber) || ins_running_read(look->source, fiber, &running) < 0)
		return buf;
	ins_running_words(running.doing, running.call, buf, size);
	ins_running_free(&running);
	return buf;
}
