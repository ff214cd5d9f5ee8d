/* SPDX-License-Identifier: MIT */
/* cmd_watchdog.c - read the time limit of long runs, or change it and read it back */
#include <errno.h>
#include <string.h>

#include "service/answer.h"
#include "service/command.h"
#include "service/setting.h"
#include "watch/longrun.h"
#include "watch/tick.h"

#define LONGEST INT64_C(3600000000000) /* an hour */

static const struct fib_setting threshold = {
	.what = FIB_WIRE_AUDIT_THRESHOLD,
	.leave = FIB_WIRE_WATCHDOG_READ,
	.read = fib_tick_long_run,
	.change = fib_tick_set_long_run,
};

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_watchdog request;

	(void)length;
	memcpy(&request, payload, sizeof request);
	if (!fib_setting_begin(peer, &threshold, request.threshold))
		return false;
	if (request.threshold == FIB_WIRE_WATCHDOG_READ ||
	    (request.threshold >= 0 && request.threshold <= LONGEST))
		return true;
	fib_setting_refused(peer, &threshold);
	fib_peer_error(peer, -EINVAL, "a threshold is at most an hour, or off");
	return false;
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_wire_watchdog_is is;

	(void)now;
	if (!fib_setting_apply(peer, &threshold, &is.previous, &is.threshold))
		return true;
	fib_tick_lock();
	is.events = fib_longrun_recorded();
	fib_tick_unlock();
	fib_peer_frame(peer, FIB_WIRE_WATCHDOG_IS, &is, sizeof is);
	fib_answer_end(peer);
	return true;
}

const struct fib_command fib_cmd_watchdog = {
	.type = FIB_WIRE_WATCHDOG,
	.name = "watchdog",
	.least = sizeof(struct fib_wire_watchdog),
	.begin = begin,
	.step = step,
};
