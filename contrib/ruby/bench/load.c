/* SPDX-License-Identifier: MIT */
/*
 * load.c - clients of an echo server on the loopback interface
 *
 * load PORT CONNECTIONS SECONDS: each connection sends 16 bytes, waits for them and sends again.
 * Prints the number of answers a second. All clients are fibers of one carrier.
 */
#include <arpa/inet.h>
#include <fiber.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SIZE 16

struct load {
	struct sockaddr_in to;
	int connections;
	int64_t seconds, until; /* until: 0: not all are connected */
	struct fiber_barrier all;
	long answers;
	int failed;
};

static void exchange(struct load *l, int fd)
{
	char bytes[SIZE] = "0123456789abcde";

	while (fiber_now() < l->until) {
		if (fiber_write_full(fd, bytes, SIZE, FIBER_FOREVER) != SIZE ||
		    fiber_read_full(fd, bytes, SIZE, FIBER_FOREVER) != SIZE) {
			l->failed++;
			return;
		}
		l->answers++;
	}
}

static void *client(void *arg)
{
	struct load *l = arg;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	fiber_new_fd(fd);
	if (fiber_connect(fd, (const struct sockaddr *)&l->to, sizeof l->to, FIBER_FOREVER) < 0)
		l->failed++;
	fiber_barrier_wait(&l->all, FIBER_FOREVER);
	if (!l->until)
		l->until = fiber_after(l->seconds * 1000000000);
	exchange(l, fd);
	fiber_close(fd);
	return NULL;
}

static void *begin(void *arg)
{
	struct load *l = arg;
	int i;

	fiber_barrier_init(&l->all, (unsigned)l->connections);
	for (i = 0; i < l->connections; i++)
		if (fiber_spawn(client, l, NULL) < 0)
			exit(1);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = ""};
	struct load l = {.to = {.sin_family = AF_INET}};

	if (argc != 4) {
		fprintf(stderr, "usage: load PORT CONNECTIONS SECONDS\n");
		return 2;
	}
	l.to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	l.to.sin_port = htons((uint16_t)atoi(argv[1]));
	l.connections = atoi(argv[2]);
	l.seconds = atoi(argv[3]);
	if (fiber_run(begin, &l, &options, NULL) < 0 || l.failed) {
		fprintf(stderr, "load: %d connections failed\n", l.failed);
		return 1;
	}
	printf("%lld\n", (long long)(l.answers / l.seconds));
	return 0;
}
