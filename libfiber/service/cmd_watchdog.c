/* SPDX-License-Identifier: MIT */
/* cmd_watchdog.c - how long a fiber may hold its carrier: read, or changed and read back. */
#include <errno.h>
#include <string.h>

#include "sched/longrun.h"
#include "sched/tick.h"
#include "service/answer.h"
#include "service/audit.h"
#include "service/command.h"

#define LONGEST INT64_C(3600000000000) /* an hour */

static void refused(const struct fib_peer *peer, int result)
{
	int64_t before = fib_tick_long_run();

	fib_audit(peer, FIB_WIRE_AUDIT_THRESHOLD, before < 0 ? 0 : (uint64_t)before,
		  (uint64_t)peer->cursor.began, result);
}

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_watchdog request;

	(void)length;
	memcpy(&request, payload, sizeof request);
	peer->cursor.began = request.threshold;
	if (request.threshold == FIB_WIRE_WATCHDOG_READ)
		return true;
	if (fib_answer_mode() < FIB_WIRE_RW) {
		fib_peer_error(peer, -EPERM,
			       "this process lets nobody change settings (FIBER_CONTROL=ro): start "
			       "it with FIBER_CONTROL=rw");
		refused(peer, -EPERM);
		return false;
	}
	if (request.threshold < 0 || request.threshold > LONGEST) {
		fib_peer_error(peer, -EINVAL, "a threshold is at most an hour, or off");
		refused(peer, -EINVAL);
		return false;
	}
	return true;
}

static bool step(struct fib_peer *peer, int64_t now)
{
	const int64_t wanted = peer->cursor.began;
	struct fib_wire_watchdog_is is;

	(void)now;
	is.previous = wanted == FIB_WIRE_WATCHDOG_READ ? fib_tick_long_run()
						       : fib_tick_set_long_run(wanted);
	is.threshold = fib_tick_long_run();
	if (wanted != FIB_WIRE_WATCHDOG_READ)
		fib_audit(peer, FIB_WIRE_AUDIT_THRESHOLD,
			  is.previous < 0 ? 0 : (uint64_t)is.previous, (uint64_t)wanted,
			  is.previous < 0 ? (int)is.previous : 0);
	if (is.previous < 0 || is.threshold < 0) {
		fib_peer_error(peer, -ESRCH, "no runtime runs in this process now");
		return true;
	}
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
