/* SPDX-License-Identifier: MIT */
/*
 * fuzz_answer.c - fiberctl with a peer that sends arbitrary answers
 *
 * The first byte of an input chooses a command of fiberctl, the second whether it prints JSON. The
 * rest is what the peer sends on each connection, whatever the request, before it closes the
 * connection.
 */
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "command.h"

#define OPEN 4 /* connections kept open */

static struct {
	int fd;
	char folder[64], path[96];
	pthread_mutex_t lock; /* protects the fields below */
	const uint8_t *data;  /* set while a command runs */
	size_t size;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A command may have two connections at a time: each is answered at once, and closed after more
 * have come. */
static void answer(int fd)
{
	static int open_fds[OPEN];
	static unsigned count;
	int *place = &open_fds[count++ % OPEN];
	size_t at = 0;
	ssize_t n = 1;

	if (*place)
		close(*place);
	*place = fd;
	pthread_mutex_lock(&process.lock);
	while (at < process.size && n > 0) {
		n = send(fd, process.data + at, process.size - at, MSG_NOSIGNAL);
		at += n > 0 ? (size_t)n : 0;
	}
	pthread_mutex_unlock(&process.lock);
	shutdown(fd, SHUT_WR);
}

static void *serve(void *arg)
{
	(void)arg;
	for (;;) {
		int fd = accept(process.fd, NULL, NULL);

		if (fd >= 0)
			answer(fd);
	}
	return NULL;
}

static void tidy_up(void)
{
	unlink(process.path);
	rmdir(process.folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	pthread_t thread;

	(void)argc;
	(void)argv;
	snprintf(process.folder, sizeof process.folder, "/tmp/fiber-fuzz-%d", (int)getpid());
	snprintf(process.path, sizeof process.path, "%s/it.sock", process.folder);
	snprintf(at.sun_path, sizeof at.sun_path, "%s", process.path);
	fuzz_must(mkdir(process.folder, 0700) == 0);
	atexit(tidy_up);
	process.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fuzz_must(bind(process.fd, (struct sockaddr *)&at, sizeof at) == 0);
	fuzz_must(listen(process.fd, 8) == 0);
	fuzz_must(pthread_create(&thread, NULL, serve, NULL) == 0);
	command_silence();
	return 0;
}

static void give(const uint8_t *data, size_t size)
{
	pthread_mutex_lock(&process.lock);
	process.data = data;
	process.size = size;
	pthread_mutex_unlock(&process.lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	give(data + 2, size - 2);
	command_run(data, process.path);
	give(NULL, 0); /* a connection that was closed early may not have been served yet */
	return 0;
}
