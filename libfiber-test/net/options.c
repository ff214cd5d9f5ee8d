/* SPDX-License-Identifier: MIT */
/*
 * options.c - options of sockets; in place of libc's functions
 *
 * A UNIX socket does not know the options of TCP, UDP and IP. An internet socket that is never bound
 * or connected does: it checks a new value, and after the values of a socket were set in it again,
 * it gives each option as the kernel does, with its defaults and limits. It is closed at once.
 */
#include "net/options.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "net/datagram.h"
#include "net/linked.h"
#include "net/real.h"

const char fib_net_options;

static int result(int rc)
{
	if (rc >= 0)
		return rc;
	errno = -rc;
	return -1;
}

/* An internet socket with the options of s. -1: the system gives none. */
static int open_sample(const struct fib_socket *s)
{
	const int fd = fib_real()->socket(s->family,
					  (s->stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
	const struct fib_socket_option *o;

	for (o = s->options; o && fd >= 0; o = o->next)
		fib_real()->setsockopt(fd, o->level, o->name, o->value, o->size);
	return fd;
}

/* -- setting -- */

/* The last value of each option is kept, in the order of the first ones. */
static int keep(struct fib_socket *s, int level, int name, const void *value, socklen_t size)
{
	struct fib_socket_option **at = &s->options, *o;

	if (size > FIB_SOCKET_VALUE)
		return 0; /* such as a filter: it has no effect inside the process */
	while (*at && ((*at)->level != level || (*at)->name != name))
		at = &(*at)->next;
	o = *at ? *at : calloc(1, sizeof *o);
	if (!o)
		return -ENOMEM;
	o->level = level;
	o->name = name;
	o->size = size;
	if (size)
		memcpy(o->value, value, size);
	*at = o;
	return 0;
}

/* Options that are on or off, which programs set for each socket: they need no sample. */
static bool is_switch(int level, int name)
{
	switch (level) {
	case SOL_SOCKET:
		return name == SO_REUSEADDR || name == SO_REUSEPORT || name == SO_KEEPALIVE;
	case IPPROTO_TCP:
		return name == TCP_NODELAY;
	case IPPROTO_IPV6:
		return name == IPV6_V6ONLY;
	default:
		return false;
	}
}

static int check(const struct fib_socket *s, int level, int name, const void *value, socklen_t size)
{
	int sample, rc = 0;

	if (is_switch(level, name) && (s->stream || level == SOL_SOCKET) && value)
		return size < sizeof(int) ? -EINVAL : 0;
	sample = open_sample(s);
	if (sample < 0)
		return 0;
	if (fib_real()->setsockopt(sample, level, name, value, size) < 0)
		rc = -errno;
	fib_real()->close(sample);
	return rc;
}

static int64_t ns_of(const void *value, socklen_t size)
{
	struct timeval t = {0, 0};

	memcpy(&t, value, size < sizeof t ? size : sizeof t);
	return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

/* What an option changes here. */
static void apply(struct fib_socket *s, int fd, int level, int name, const void *value,
		  socklen_t size)
{
	int on = 0;

	memcpy(&on, value, size < sizeof on ? size : sizeof on);
	if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY)
		s->v6_only = on;
	if (level != SOL_SOCKET)
		return;
	switch (name) {
	case SO_REUSEADDR:
		s->reuse_address = on;
		break;
	case SO_REUSEPORT:
		s->reuse_port = on;
		break;
	case SO_RCVTIMEO:
		s->receive_timeout = ns_of(value, size);
		break;
	case SO_SNDTIMEO:
		s->send_timeout = ns_of(value, size);
		break;
	case SO_SNDBUF:
		if (s->stream && !s->veiled)
			fib_real()->setsockopt(fd, level, name, value, size);
		break;
	default:
		break;
	}
}

static int set_inside(struct fib_socket *s, int fd, int level, int name, const void *value,
		      socklen_t size)
{
	int rc;

	if (level == IPPROTO_IPV6 && s->family != AF_INET6)
		return -ENOPROTOOPT;
	if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && s->local.port)
		return -EINVAL;
	rc = check(s, level, name, value, size);
	if (rc == 0)
		rc = keep(s, level, name, value, size);
	if (rc == 0 && value)
		apply(s, fd, level, name, value, size);
	return rc;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	struct fib_socket *s = fib_socket_of(fd);

	return s ? result(set_inside(s, fd, level, name, value, size))
		 : fib_real()->setsockopt(fd, level, name, value, size);
}

void fib_options_inherit(struct fib_socket *s, const struct fib_socket *listener)
{
	const struct fib_socket_option *o;

	for (o = listener->options; o; o = o->next)
		keep(s, o->level, o->name, o->value, o->size);
	s->receive_timeout = listener->receive_timeout;
	s->send_timeout = listener->send_timeout;
	s->v6_only = listener->v6_only;
}

/* -- getting -- */

/* Options of SOL_SOCKET that depend on what s is and does. False: it is another one. */
static bool get_own(struct fib_socket *s, int fd, int name, int *ret)
{
	switch (name) {
	case SO_ERROR:
		*ret = fib_socket_take_error(s, fd);
		return true;
	case SO_ACCEPTCONN:
		*ret = s->listening;
		return true;
	case SO_TYPE:
		*ret = s->stream ? SOCK_STREAM : SOCK_DGRAM;
		return true;
	case SO_DOMAIN:
		*ret = s->family;
		return true;
	case SO_PROTOCOL:
		*ret = s->stream ? IPPROTO_TCP : IPPROTO_UDP;
		return true;
	default:
		return false;
	}
}

static int write_int(int from, void *value, socklen_t *size)
{
	if (*size > sizeof from)
		*size = sizeof from;
	memcpy(value, &from, *size);
	return 0;
}

static unsigned char tcp_state(const struct fib_socket *s)
{
	if (s->listening)
		return TCP_LISTEN;
	if (s->veiled)
		return TCP_SYN_SENT;
	if (!s->connected)
		return TCP_CLOSE;
	return s->peer && (s->peer->closed || s->peer->write_shut) ? TCP_CLOSE_WAIT
								   : TCP_ESTABLISHED;
}

static int get_inside(struct fib_socket *s, int fd, int level, int name, void *value,
		      socklen_t *size)
{
	int sample, rc = 0, own;

	if (!size || (int)*size < 0)
		return size ? -EINVAL : -EFAULT;
	if (level == SOL_SOCKET && get_own(s, fd, name, &own))
		return write_int(own, value, size);
	sample = open_sample(s);
	if (sample < 0)
		return -errno;
	if (fib_real()->getsockopt(sample, level, name, value, size) < 0)
		rc = -errno;
	fib_real()->close(sample);
	if (rc == 0 && level == IPPROTO_TCP && name == TCP_INFO && *size > 0)
		((struct tcp_info *)value)->tcpi_state = tcp_state(s);
	return rc;
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	struct fib_socket *s = fib_socket_of(fd);

	return s ? result(get_inside(s, fd, level, name, value, size))
		 : fib_real()->getsockopt(fd, level, name, value, size);
}

/* The size of a datagram is that without its header. */
int ioctl(int fd, unsigned long request, ...)
{
	const struct fib_socket *s;
	va_list ap;
	void *arg;
	int rc;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	rc = fib_real()->ioctl(fd, request, arg);
	if (rc < 0 || request != FIONREAD)
		return rc;
	s = fib_socket_of(fd);
	if (s && !s->stream && *(int *)arg >= (int)FIB_DATAGRAM_HEADER)
		*(int *)arg -= (int)FIB_DATAGRAM_HEADER;
	return rc;
}
