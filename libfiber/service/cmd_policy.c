/* SPDX-License-Identifier: MIT */
/* cmd_policy.c - read the pinned-blocking policy, or change it and read it back */
#include <errno.h>
#include <string.h>

#include <fiber/runtime.h>

#include "service/answer.h"
#include "service/command.h"
#include "service/setting.h"
#include "watch/tick.h"

static int64_t current(void)
{
	return fib_tick_policy();
}

static int64_t change(int64_t wanted)
{
	return fib_tick_set_policy((uint32_t)wanted);
}

static const struct fib_setting policy = {
	.what = FIB_WIRE_AUDIT_POLICY,
	.leave = FIB_WIRE_POLICY_READ,
	.read = current,
	.change = change,
};

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_policy request;

	(void)length;
	memcpy(&request, payload, sizeof request);
	if (!fib_setting_begin(peer, &policy, request.policy))
		return false;
	if (request.policy == FIB_WIRE_POLICY_READ || request.policy <= FIBER_PINNED_SILENT)
		return true;
	fib_setting_refused(peer, &policy);
	fib_peer_error(peer, -EINVAL, "no such policy: %u", request.policy);
	return false;
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_wire_policy_is is = {0};
	int64_t before, after;

	(void)now;
	if (!fib_setting_apply(peer, &policy, &before, &after))
		return true;
	is.policy = (uint32_t)after;
	is.previous = (uint32_t)before;
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
