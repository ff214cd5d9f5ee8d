/* SPDX-License-Identifier: MIT */
/* cmd_carriers.c - send the runtimes, their pollers and their carriers; some carriers a step */
#include <string.h>

#include "os/os.h"
#include "sched/sched.h"
#include "service/answer.h"
#include "service/command.h"
#include "watch/stats.h"

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	(void)payload;
	(void)length;
	peer->cursor.next = 0;
	peer->cursor.began = fib_os_now();
	return true;
}

/* c->next: the last runtime whose carriers were all sent; of the next one c->counted were sent. */
static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_wire_carrier carriers[FIB_STATS_CARRIERS];
	struct fib_wire_runtime runtime;
	struct fib_cursor *c = &peer->cursor;
	size_t room, size;
	char *at;

	(void)now;
	if (!fib_stats_next(c->next, (unsigned)c->counted, &runtime, carriers)) {
		c->end.sampled_ns = fib_os_now() - c->began;
		fib_answer_end(peer);
		return true;
	}
	/* That runtime has finished meanwhile. */
	if (c->counted && runtime.serial != c->id) {
		c->counted = 0;
		return false;
	}
	c->id = runtime.serial;
	c->counted += runtime.carriers;
	if (c->counted >= runtime.all) {
		c->next = runtime.serial;
		c->counted = 0;
	}
	c->end.total += runtime.carriers;
	c->end.shown += runtime.carriers;
	size = runtime.carriers * sizeof carriers[0];
	fib_peer_frame_open(peer, FIB_WIRE_RUNTIME);
	at = fib_peer_at(peer, &room);
	memcpy(at, &runtime, sizeof runtime);
	memcpy(at + sizeof runtime, carriers, size);
	fib_peer_add(peer, sizeof runtime + size);
	fib_peer_frame_close(peer);
	return false;
}

const struct fib_command fib_cmd_carriers = {
	.type = FIB_WIRE_CARRIERS,
	.name = "carriers",
	.begin = begin,
	.step = step,
};
