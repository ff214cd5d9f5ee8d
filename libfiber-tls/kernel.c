/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - records that the kernel encrypts (kTLS)
 *
 * Linux can encrypt the records of a TCP socket. OpenSSL then gives the content of records to the
 * transport, and the type of a record that has no data in it: an alert, a message of a handshake.
 * Such a record takes a sendmsg(2) of its own, with the type beside it.
 *
 * Only sending is done by the kernel. For received records OpenSSL 3.0 can use it with TLS 1.2 only,
 * and the bytes that are read ahead would have to be given back.
 *
 * Neither OpenSSL 3.0 nor Linux before 6.14 can change the keys of such a socket. A peer of TLS 1.3 may
 * ask for that, usually after hundreds of gigabytes. The connection then ends with -ENOTSUP. So a
 * program must ask for this with a flag.
 *
 * A kernel without this may look for a module each time it is asked, which takes milliseconds. So it
 * is asked once, with a socket that is not connected: "not connected" is a yes.
 */
#include "kernel.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include <fiber.h>

#define LEVEL	 282 /* SOL_TLS */
#define SET_TYPE 1   /* TLS_SET_RECORD_TYPE */
#define SENDS	 2L  /* OpenSSL's number for this direction */

static bool available;

static void ask_kernel(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	available =
		!setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) || errno == ENOTCONN;
	close(fd);
}

bool fib_tls_kernel_available(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, ask_kernel);
	return available;
}

bool fib_tls_kernel_start(struct fiber_tls *tls, void *keys)
{
	BIO *bio;
	bool started;

	if (setsockopt(tls->fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) && errno != EEXIST)
		return false;
	/* OpenSSL's own socket knows the layout of the keys. */
	bio = BIO_new_socket(tls->fd, BIO_NOCLOSE);
	if (!bio)
		return false;
	started = BIO_ctrl(bio, FIB_TLS_KERNEL_START, SENDS, keys) > 0;
	BIO_free(bio);
	return started;
}

ssize_t fib_tls_kernel_send(struct fiber_tls *tls, int type, const char *bytes, size_t size)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(1)];
	} control = {.room = {0}};
	struct iovec piece = {(void *)(uintptr_t)bytes, size};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = control.room,
				 .msg_controllen = sizeof(control.room)};
	ssize_t n;

	control.head.cmsg_level = LEVEL;
	control.head.cmsg_type = SET_TYPE;
	control.head.cmsg_len = CMSG_LEN(1);
	*CMSG_DATA(&control.head) = (unsigned char)type;
	n = fiber_sendmsg(tls->fd, &message, MSG_DONTWAIT, FIBER_FOREVER);
	/* The kernel has made a record of a part: OpenSSL cannot go on in the middle of its own. */
	return n >= 0 && (size_t)n < size ? -EIO : n;
}
