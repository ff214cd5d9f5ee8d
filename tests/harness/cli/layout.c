/* SPDX-License-Identifier: MIT */
/* layout.c - read the layout that a program of this build describes */
#include "tests/harness/cli/layout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "wire/wire.h"

static void receive(int fd, void *bytes, size_t length)
{
	if (length && recv(fd, bytes, length, MSG_WAITALL) != (ssize_t)length)
		abort();
}

void layout_of_program(struct fib_layout *ret)
{
	static const struct fib_wire_header request = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION,
						       FIB_WIRE_COUNTERS, 0};
	struct harness_process *p = cli_start(NULL, "ready", "crowd", "1", NULL);
	const int fd = cli_attach(p->pid);
	struct fib_wire_header h = {0};
	unsigned char payload[65536];

	if (send(fd, &request, sizeof request, MSG_NOSIGNAL) != sizeof request)
		abort();
	while (h.type != FIB_WIRE_LAYOUT) {
		receive(fd, &h, sizeof h);
		if (h.length > sizeof payload)
			abort();
		receive(fd, payload, h.length);
	}
	memset(ret, 0, sizeof *ret);
	memcpy(ret, payload, h.length < sizeof *ret ? h.length : sizeof *ret);
	close(fd);
	harness_free(p);
}
