/* SPDX-License-Identifier: MIT */
/* message.c - look into a struct msghdr */
#include "net/message.h"

#include <string.h>
#include <sys/uio.h>

size_t fib_message_size(const struct msghdr *m)
{
	size_t size = 0, i;

	for (i = 0; i < m->msg_iovlen; i++)
		size += m->msg_iov[i].iov_len;
	return size;
}

bool fib_message_has_rights(const struct msghdr *m)
{
	struct msghdr whole = *m;
	struct cmsghdr *c;

	if (!m->msg_control)
		return false;
	for (c = CMSG_FIRSTHDR(&whole); c; c = CMSG_NXTHDR(&whole, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			return true;
	return false;
}

size_t fib_message_rest(const struct msghdr *m, size_t skip, struct iovec *room, size_t count)
{
	size_t i, n = 0;

	for (i = 0; i < m->msg_iovlen && n < count; i++) {
		if (skip >= m->msg_iov[i].iov_len) {
			skip -= m->msg_iov[i].iov_len;
			continue;
		}
		room[n].iov_base = (char *)m->msg_iov[i].iov_base + skip;
		room[n++].iov_len = m->msg_iov[i].iov_len - skip;
		skip = 0;
	}
	return n;
}

void fib_message_copy(const struct msghdr *m, unsigned char *to)
{
	size_t i;

	for (i = 0; i < m->msg_iovlen; i++) {
		if (m->msg_iov[i].iov_len)
			memcpy(to, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
		to += m->msg_iov[i].iov_len;
	}
}
