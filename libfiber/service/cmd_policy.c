/* SPDX-License-Identifier: MIT */
/* cmd_policy.c - the pinned-blocking policy: read, or changed and read back. */
#include <errno.h>
#include <string.h>

#include <fiber/runtime.h>

#include "sched/tick.h"
#include "service/answer.h"
#include "service/audit.h"
#include "service/command.h"

static void refused(const struct fib_peer *peer, int why)
{
	const int policy = fib_tick_policy();

	fib_audit(peer, FIB_WIRE_AUDIT_POLICY, policy < 0 ? 0 : (uint64_t)policy,
		  peer->cursor.policy, why);
}

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_policy request;

	(void)length;
	memcpy(&request, payload, sizeof request);
	peer->cursor.policy = request.policy;
	if (request.policy == FIB_WIRE_POLICY_READ)
		return true;
	if (fib_answer_mode() < FIB_WIRE_RW) {
		fib_peer_error(peer, -EPERM,
			       "this process lets nobody change settings (FIBER_CONTROL=ro): start "
			       "it with FIBER_CONTROL=rw");
		refused(peer, -EPERM);
		return false;
	}
	if (request.policy > FIBER_PINNED_SILENT) {
		refused(peer, -EINVAL);
		fib_peer_error(peer, -EINVAL, "no such policy: %u", request.policy);
		return false;
	}
	return true;
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_wire_policy_is is = {0};
	uint32_t wanted = peer->cursor.policy;
	int previous, current;

	(void)now;
	previous = wanted == FIB_WIRE_POLICY_READ ? fib_tick_policy() : fib_tick_set_policy(wanted);
	current = fib_tick_policy();
	if (wanted != FIB_WIRE_POLICY_READ)
		fib_audit(peer, FIB_WIRE_AUDIT_POLICY, previous < 0 ? 0 : (uint64_t)previous,
			  wanted, previous < 0 ? previous : 0);
	if (previous < 0 || current < 0) {
		fib_peer_error(peer, previous < 0 ? previous : current,
			       "no runtime runs in this process now");
		return true;
	}
	is.policy = (uint32_t)current;
	is.previous = (uint32_t)previous;
	is.events = fib_tick_pinned_events(&is.dropped);
	fib_peer_frame(peer, FIB_WIRE_POLICY_IS, &is, sizeof is);
	fib_answer_end(peer);
	return true;
}

const struct fib_command fib_cmd_policy = {
	.type = FIB_WIRE_POLICY,
	.name = "policy",
	.least = sizeof(struct fib_wire_policy),
	.begin = begin,
	.step = step,
};
