/* SPDX-License-Identifier: MIT */
/*
 * client.c - the asking end of the control protocol
 *
 * The other end may be stopped by a debugger, hung, or no fiber program at all. So no call here waits longer
 * than the client's timeout for any one step, and no length that was received is believed before it was
 * compared with the largest that is allowed.
 *
 * Or there is no other end any more, and what it once answered is kept.
 */
#include "wire/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BUFFER ((size_t)256 << 10) /* as much as a socket holds for us */

/* How long to stay away between two looks for an answer (rest()), ns: */
#define SHORTEST INT64_C(30000)
#define LONGEST \
	INT64_C(50000000) /* below what somebody notices at the end of an answer that took so long */

/* For connecting and for sending; look() has a clock of its own. */
static int set_timeout(int fd, int64_t timeout_ns)
{
	struct timeval t = {
		.tv_sec = (time_t)(timeout_ns / 1000000000),
		.tv_usec = (suseconds_t)(timeout_ns % 1000000000 / 1000),
	};

	/* Zero would mean for ever. */
	if (!t.tv_sec && !t.tv_usec)
		t.tv_usec = 1;
	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t) < 0 ? -errno : 0;
}

/* Timeouts expire as EAGAIN. */
static int reason(void)
{
	return errno == EAGAIN || errno == EINPROGRESS ? -ETIMEDOUT : -errno;
}

/* Of what is there and no socket, connect(2) says the same as of a socket whose process is dead. */
static int refused(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISSOCK(st.st_mode) ? -ENOTSOCK : -ECONNREFUSED;
}

int fib_wire_connect(struct fib_wire_client *client, const char *path, int64_t timeout_ns)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int rc;

	memset(client, 0, sizeof *client);
	client->fd = -1;
	if (strlen(path) >= sizeof at.sun_path)
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	client->timeout_ns = timeout_ns;
	client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->fd < 0)
		return -errno;
	rc = set_timeout(client->fd, timeout_ns);
	while (rc == 0 && connect(client->fd, (struct sockaddr *)&at, sizeof at) < 0)
		if (errno != EINTR)
			rc = reason();
	if (rc < 0)
		fib_wire_disconnect(client);
	return rc == -ECONNREFUSED ? refused(path) : rc;
}

void fib_wire_disconnect(struct fib_wire_client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	free(client->buffer);
	free(client->payload);
	memset(client, 0, sizeof *client);
	client->fd = -1;
}

pid_t fib_wire_peer(const struct fib_wire_client *client)
{
	struct ucred cred;
	socklen_t size = sizeof cred;

	if (getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0 || cred.pid <= 0)
		return 0;
	return cred.pid;
}

void fib_wire_recall(struct fib_wire_client *client, fib_wire_kept_fn *kept, void *keeper)
{
	memset(client, 0, sizeof *client);
	client->fd = -1;
	client->kept = kept;
	client->keeper = keeper;
}

static int send_all(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;
	ssize_t n;

	while (length) {
		n = send(fd, at, length, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return reason();
		at += n;
		length -= (size_t)n;
	}
	return 0;
}

int fib_wire_request(struct fib_wire_client *client, enum fib_wire_type type, const void *payload,
		     size_t length)
{
	unsigned char frame[sizeof(struct fib_wire_header) + FIB_WIRE_REQUEST_MAX];
	struct fib_wire_header header = {
		.magic = FIB_WIRE_MAGIC,
		.version = FIB_WIRE_VERSION,
		.type = (uint16_t)type,
		.length = (uint32_t)length,
	};
	int rc;

	if (length > FIB_WIRE_REQUEST_MAX)
		return -EMSGSIZE;
	if (client->kept)
		return client->kept(client->keeper, type, &client->at, &client->end) ? 0
										     : -EOPNOTSUPP;
	client->rest_ns = 0;
	memcpy(frame, &header, sizeof header);
	if (length)
		memcpy(frame + sizeof header, payload, length);
	rc = send_all(client->fd, frame, sizeof header + length);
	/* Whoever turned us away has said why before it closed: let that be received. */
	return rc == -EPIPE || rc == -ECONNRESET ? 0 : rc;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * Who sleeps in recv(2) is woken by the program: with each bit that it writes, and before that with its taking of the request,
 * since the kernel tells all who sleep on a socket that there is room in it again. Where every CPU has a carrier to run
 * that costs more than making the answer, sometimes more than a fiber may be kept from its CPU. So we look, and sleep by our own
 * clock until the next look: what comes meanwhile wakes nobody. As long as nothing comes each sleep is longer than the one before by a
 * quarter, so what has come lies there for no more than a quarter of the waiting; the next waiting begins with half of the last sleep.
 */
static void rest(struct fib_wire_client *client)
{
	const struct timespec t = {0, client->rest_ns};

	nanosleep(&t, NULL);
	client->rest_ns += client->rest_ns / 4;
	if (client->rest_ns > LONGEST)
		client->rest_ns = LONGEST;
}

static ssize_t look(struct fib_wire_client *client)
{
	const int64_t until = now() + client->timeout_ns;
	ssize_t n;

	client->rest_ns = client->rest_ns / 2 > SHORTEST ? client->rest_ns / 2 : SHORTEST;
	while ((n = recv(client->fd, client->buffer, BUFFER, MSG_DONTWAIT)) < 0 &&
	       (errno == EAGAIN || errno == EINTR) && now() < until)
		rest(client);
	return n;
}

/* Whatever has come, or comes first: many small frames at once. */
static int refill(struct fib_wire_client *client)
{
	ssize_t n;

	if (!client->buffer)
		client->buffer = malloc(BUFFER);
	if (!client->buffer)
		return -ENOMEM;
	n = look(client);
	if (n <= 0)
		return n < 0 ? reason() : -ECONNRESET;
	client->at = client->buffer;
	client->end = client->buffer + n;
	return 0;
}

static int receive_all(struct fib_wire_client *client, void *bytes, size_t length)
{
	unsigned char *to = bytes;

	while (length) {
		size_t n = (size_t)(client->end - client->at);
		int rc;

		if (!n) {
			rc = client->kept ? -EPROTO : refill(client);
			if (rc < 0)
				return rc;
			continue;
		}
		if (n > length)
			n = length;
		memcpy(to, client->at, n);
		client->at += n;
		to += n;
		length -= n;
	}
	return 0;
}

static int make_room(struct fib_wire_client *client, size_t length)
{
	unsigned char *bigger;

	if (length <= client->capacity)
		return 0;
	bigger = realloc(client->payload, length);
	if (!bigger)
		return -ENOMEM;
	client->payload = bigger;
	client->capacity = length;
	return 0;
}

static int receive_frame(struct fib_wire_client *client, struct fib_wire_header *ret_header,
			 const void **ret_payload)
{
	struct fib_wire_header header;
	int rc = receive_all(client, &header, sizeof header);

	if (rc < 0)
		return rc;
	if (fib_wire_check(&header, FIB_WIRE_FRAME_MAX) < 0)
		return -EPROTO;
	/* One byte at least, so that an empty payload has an address too. */
	rc = make_room(client, header.length + 1);
	if (rc == 0)
		rc = receive_all(client, client->payload, header.length);
	if (rc < 0)
		return rc;
	*ret_header = header;
	*ret_payload = client->payload;
	return 0;
}

int fib_wire_receive(struct fib_wire_client *client, struct fib_wire_header *ret_header,
		     const void **ret_payload)
{
	int rc;

	do
		rc = receive_frame(client, ret_header, ret_payload);
	while (rc == 0 && ret_header->type == FIB_WIRE_STILL);
	return rc;
}
