/* SPDX-License-Identifier: MIT */
/*
 * client.c - the client side of the control protocol
 *
 * The program may be stopped by a debugger, hung, or not use fibers at all. So no call here waits
 * longer than the client's timeout for any one step, nor longer for all steps of an answer than its
 * budget allows (budget.c). No received length is used before it was compared with the allowed
 * maximum.
 *
 * A client may also have no program, but answers that were saved earlier.
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

#define BUFFER ((size_t)256 << 10) /* as much as a socket buffers for us */

/* Sleep between two polls for an answer (rest()), ns: */
#define SHORTEST INT64_C(30000)
#define SLACK	 INT64_C(10000000)
#define LONGEST \
	INT64_C(50000000) /* short enough that people do not notice it at the end of an answer */

/* For connecting and sending; look() uses its own clock. */
static int set_timeout(int fd, int64_t timeout_ns)
{
	struct timeval t = {
		.tv_sec = (time_t)(timeout_ns / 1000000000),
		.tv_usec = (suseconds_t)(timeout_ns % 1000000000 / 1000),
	};

	/* Zero would mean forever. */
	if (!t.tv_sec && !t.tv_usec)
		t.tv_usec = 1;
	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t) < 0 ? -errno : 0;
}

/* Expired timeouts are EAGAIN. */
static int reason(void)
{
	return errno == EAGAIN || errno == EINPROGRESS ? -ETIMEDOUT : -errno;
}

/* For a file that is not a socket, connect(2) returns the same error as for a socket of a dead
 * process. */
static int refused(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISSOCK(st.st_mode) ? -ENOTSOCK : -ECONNREFUSED;
}

static int connect_how(struct fib_wire_client *client, const char *path, int64_t timeout_ns,
		       int flags)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int rc;

	memset(client, 0, sizeof *client);
	client->fd = -1;
	if (strlen(path) >= sizeof at.sun_path)
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	client->timeout_ns = timeout_ns;
	client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (client->fd < 0)
		return -errno;
	rc = set_timeout(client->fd, timeout_ns);
	while (rc == 0 && connect(client->fd, (struct sockaddr *)&at, sizeof at) < 0)
		if (errno != EINTR)
			rc = flags && errno == EAGAIN ? -EAGAIN : reason();
	if (rc < 0)
		fib_wire_disconnect(client);
	return rc == -ECONNREFUSED ? refused(path) : rc;
}

int fib_wire_connect(struct fib_wire_client *client, const char *path, int64_t timeout_ns)
{
	return connect_how(client, path, timeout_ns, 0);
}

int fib_wire_connect_now(struct fib_wire_client *client, const char *path, int64_t timeout_ns)
{
	return connect_how(client, path, timeout_ns, SOCK_NONBLOCK);
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

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
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
	const int64_t began = now();
	int rc;

	if (length > FIB_WIRE_REQUEST_MAX)
		return -EMSGSIZE;
	fib_wire_budget_begin(&client->budget, type, client->timeout_ns, began);
	if (client->longest_ns)
		client->budget.until = began + client->longest_ns;
	client->taken = 0;
	if (client->kept)
		return client->kept(client->keeper, type, &client->at, &client->end) ? 0
										     : -EOPNOTSUPP;
	client->rest_ns = 0;
	memcpy(frame, &header, sizeof header);
	if (length)
		memcpy(frame + sizeof header, payload, length);
	rc = send_all(client->fd, frame, sizeof header + length);
	/* A program that rejects us sends the reason before it closes: let it be received. */
	return rc == -EPIPE || rc == -ECONNRESET ? 0 : rc;
}

/*
 * A client that sleeps in recv(2) is woken by the program: at each small write, and before that
 * when the program takes the request, since the kernel then wakes all threads that wait for room in
 * the socket. If every CPU has a carrier to run, that costs more than making the answer, sometimes
 * more than a fiber may be kept from its CPU.
 *
 * So the client polls, and sleeps between polls: data that arrives meanwhile wakes no thread. While
 * nothing arrives, each sleep is longer than the last by a quarter, so data waits at most a quarter
 * of the total waiting time. The next wait starts with half of the last sleep.
 */
static int rest(struct fib_wire_client *client, int64_t *silent)
{
	const int64_t began = now(), meant = client->rest_ns;
	const struct timespec t = {0, meant};
	int64_t slept;

	nanosleep(&t, NULL);
	slept = now() - began;
	/* A sleep that took far longer was not a wait: this process, or the whole machine, could
	 * not run. */
	if (slept > 2 * meant + SLACK)
		slept = 2 * meant + SLACK;
	*silent += slept;
	client->rest_ns += client->rest_ns / 4;
	if (client->rest_ns > LONGEST)
		client->rest_ns = LONGEST;
	return fib_wire_budget_wait(&client->budget, slept);
}

/* Read what has arrived, up to the size of the buffer. Returns the number of bytes, 0 at the end,
 * -EAGAIN, or another negative errno. */
static ssize_t glance(struct fib_wire_client *client)
{
	ssize_t n;

	do
		n = recv(client->fd, client->buffer, BUFFER, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Data that is there when the time is over is accepted: it arrived in time. */
static ssize_t look(struct fib_wire_client *client)
{
	int64_t silent = 0;
	ssize_t n;
	int rc = 0;

	client->rest_ns = client->rest_ns / 2 > SHORTEST ? client->rest_ns / 2 : SHORTEST;
	while ((n = glance(client)) == -EAGAIN) {
		if (rc < 0 || silent >= client->timeout_ns)
			return rc < 0 ? rc : -ETIMEDOUT;
		rc = rest(client, &silent);
	}
	return n;
}

/* Read what has arrived or, with `waits`, wait for it: often many small frames at once. */
static int refill(struct fib_wire_client *client, bool waits)
{
	ssize_t n;

	if (!client->buffer)
		client->buffer = malloc(BUFFER);
	if (!client->buffer)
		return -ENOMEM;
	n = waits ? look(client) : glance(client);
	if (n <= 0)
		return n < 0 ? (int)n : -ECONNRESET;
	client->at = client->buffer;
	client->end = client->buffer + n;
	return fib_wire_budget_come(&client->budget, (size_t)n, now());
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

/* Check the header that has arrived and make room for the payload. One byte at least, so that an
 * empty payload has an address too. */
static int check(struct fib_wire_client *client)
{
	int rc = fib_wire_check(&client->header, FIB_WIRE_FRAME_MAX);

	if (client->header.magic == __builtin_bswap32(FIB_WIRE_MAGIC))
		return -EXDEV;
	if (rc == 0 && !client->kept)
		rc = fib_wire_budget_frame(&client->budget, client->header.length);
	return rc < 0 ? rc : make_room(client, client->header.length + 1);
}

/* Move bytes to the frame. Returns the number of bytes moved. */
static size_t move(struct fib_wire_client *client, void *to, size_t most)
{
	const size_t there = (size_t)(client->end - client->at), n = there < most ? there : most;

	memcpy(to, client->at, n);
	client->at += n;
	client->taken += n;
	return n;
}

/* Continue the frame with the bytes at hand. Returns 1: it is complete; 0: more must arrive; or a
 * negative errno. */
static int go_on(struct fib_wire_client *client)
{
	const size_t head = sizeof client->header;
	size_t all;
	int rc;

	if (client->taken < head && client->at < client->end) {
		move(client, (unsigned char *)&client->header + client->taken,
		     head - client->taken);
		rc = client->taken < head ? 0 : check(client);
		if (rc < 0)
			return rc;
	}
	if (client->taken < head)
		return 0;
	all = head + client->header.length;
	if (client->taken < all && client->at < client->end)
		move(client, client->payload + (client->taken - head), all - client->taken);
	return client->taken == all;
}

static int receive(struct fib_wire_client *client, bool waits, struct fib_wire_header *ret_header,
		   const void **ret_payload)
{
	bool refilled = false;
	int rc;

	/* An answer without a request. */
	if (!client->budget.request)
		fib_wire_budget_begin(&client->budget, FIB_WIRE_LIST, client->timeout_ns, now());
	for (;;) {
		rc = go_on(client);
		if (rc == 0) {
			/* A caller that does not wait has other clients to serve. */
			rc = client->kept	  ? -EPROTO
			     : !waits && refilled ? -EAGAIN
						  : refill(client, waits);
			refilled = true;
			if (rc == 0)
				continue;
		}
		if (rc < 0)
			return rc;
		client->taken = 0;
		if (client->header.type != FIB_WIRE_STILL)
			break;
		fib_wire_budget_still(&client->budget, client->payload, client->header.length);
	}
	*ret_header = client->header;
	*ret_payload = client->payload;
	return 0;
}

int fib_wire_receive(struct fib_wire_client *client, struct fib_wire_header *ret_header,
		     const void **ret_payload)
{
	return receive(client, true, ret_header, ret_payload);
}

int fib_wire_receive_now(struct fib_wire_client *client, struct fib_wire_header *ret_header,
			 const void **ret_payload)
{
	return receive(client, false, ret_header, ret_payload);
}

void fib_wire_news(struct fib_wire_client *client, uint64_t count)
{
	fib_wire_budget_news(&client->budget, count);
}
