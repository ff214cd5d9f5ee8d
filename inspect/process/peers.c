/* SPDX-License-Identifier: MIT */
/*
 * peers.c - the peers of a live process' TCP connections, and whether they have answered
 *
 * A connection that waits for input may be idle, or wait for the answer to a request. The kernel knows
 * how long ago data was last sent and last received. If the last that was sent is newer, the peer
 * owes an answer; so it does if it has never sent anything. The times are those of the kernel's timer
 * ticks: of data that was sent and received in the same tick the order is unknown, and the peer owes
 * nothing. A peer that never answers by its protocol, such as one that collects logs, cannot be
 * told from one that has stopped.
 *
 * The tables in /proc/PID/net do not have these times. sock_diag(7) has them for all connections of
 * the caller's network namespace, without privileges.
 */
#include "inspect/process/peers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/text/member.h"

/* The states of a connection, from <netinet/tcp.h>, which contradicts <linux/tcp.h>. */
enum { ESTABLISHED = 1, SYN_SENT = 2 };

#define ANSWER 65536u /* bytes; the kernel fills half of it */

static bool same_network(pid_t pid)
{
	char path[64];
	struct stat ours, theirs;

	snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
	return stat("/proc/self/ns/net", &ours) == 0 && stat(path, &theirs) == 0 &&
	       ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

static int request(int fd, uint8_t family)
{
	const struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 request;
	} message = {
		.head = {.nlmsg_len = sizeof message,
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.request = {.sdiag_family = family,
			    .sdiag_protocol = IPPROTO_TCP,
			    .idiag_ext = 1 << (INET_DIAG_INFO - 1),
			    .idiag_states = 1 << ESTABLISHED | 1 << SYN_SENT},
	};

	return send(fd, &message, sizeof message, 0) < 0 ? -errno : 0;
}

/* tcpi_bytes_acked counts the start of the connection as a byte. */
static bool says_owes(const struct tcp_info *info)
{
	const bool sent = info->tcpi_bytes_acked > 1 || info->tcpi_unacked;

	return sent && (!info->tcpi_bytes_received ||
			info->tcpi_last_data_sent < info->tcpi_last_data_recv);
}

/* Whether the last data went to the peer. left: bytes of attributes. */
static bool owes(const struct inet_diag_msg *m, const char *at, size_t left)
{
	struct tcp_info info = {0};
	struct nlattr a;
	size_t step;

	if (m->idiag_state == SYN_SENT)
		return true;
	while (left >= sizeof a) {
		memcpy(&a, at, sizeof a);
		if (a.nla_len < sizeof a || a.nla_len > left)
			return false;
		if (a.nla_type == INET_DIAG_INFO) {
			const size_t size = a.nla_len - sizeof a;

			memcpy(&info, at + sizeof a, size < sizeof info ? size : sizeof info);
			return says_owes(&info);
		}
		step = (size_t)NLA_ALIGN(a.nla_len);
		if (step >= left)
			return false;
		at += step;
		left -= step;
	}
	return false;
}

static int add(struct ins_peers *peers, const struct inet_diag_msg *m, const char *more,
	       size_t left)
{
	char text[INET6_ADDRSTRLEN] = "?";
	struct ins_peer *p;

	if (peers->count == peers->room) {
		const size_t room = peers->room ? 2 * peers->room : 64;

		p = realloc(peers->peer, room * sizeof *p);
		if (!p)
			return -ENOMEM;
		peers->peer = p;
		peers->room = room;
	}
	p = &peers->peer[peers->count++];
	p->inode = m->idiag_inode;
	p->owes = owes(m, more, left);
	inet_ntop(m->idiag_family, m->id.idiag_dst, text, sizeof text);
	snprintf(p->address, sizeof p->address, m->idiag_family == AF_INET ? "%s:%u" : "[%s]:%u",
		 text, ntohs(m->id.idiag_dport));
	return 0;
}

/* Take the messages of one datagram. 1: the answer is complete. */
static int take(struct ins_peers *peers, const char *bytes, size_t size)
{
	const size_t fixed = sizeof(struct inet_diag_msg);
	struct inet_diag_msg m;
	struct nlmsghdr head;
	int rc = 0;

	while (rc == 0 && size >= sizeof head) {
		memcpy(&head, bytes, sizeof head);
		if (head.nlmsg_len < sizeof head || head.nlmsg_len > size)
			return -EPROTO;
		if (head.nlmsg_type == NLMSG_DONE)
			return 1;
		if (head.nlmsg_type == NLMSG_ERROR)
			return -EOPNOTSUPP;
		if (head.nlmsg_len >= sizeof head + fixed) {
			memcpy(&m, bytes + sizeof head, sizeof m);
			rc = add(peers, &m, bytes + sizeof head + fixed,
				 head.nlmsg_len - sizeof head - fixed);
		}
		if (NLMSG_ALIGN(head.nlmsg_len) >= size)
			return rc;
		bytes += NLMSG_ALIGN(head.nlmsg_len);
		size -= NLMSG_ALIGN(head.nlmsg_len);
	}
	return rc;
}

static int read_family(struct ins_peers *peers, int fd, uint8_t family, char *buf)
{
	int rc = request(fd, family);

	while (rc == 0) {
		const ssize_t n = recv(fd, buf, ANSWER, 0);

		rc = n < 0 ? -errno : take(peers, buf, (size_t)n);
	}
	return rc < 0 ? rc : 0;
}

static int by_inode(const void *a, const void *b)
{
	const struct ins_peer *x = a, *y = b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

int ins_peers_read(pid_t pid, struct ins_peers *ret)
{
	char *buf;
	int fd, rc;

	*ret = (struct ins_peers){.pid = ins_member(pid)};
	if (!same_network(ret->pid))
		return -EXDEV;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return -errno;
	buf = malloc(ANSWER);
	rc = buf ? read_family(ret, fd, AF_INET, buf) : -ENOMEM;
	if (rc == 0)
		rc = read_family(ret, fd, AF_INET6, buf);
	free(buf);
	close(fd);
	if (rc < 0)
		ins_peers_free(ret);
	else if (ret->count)
		qsort(ret->peer, ret->count, sizeof ret->peer[0], by_inode);
	return rc;
}

void ins_peers_free(struct ins_peers *peers)
{
	free(peers->peer);
	*peers = (struct ins_peers){.pid = peers->pid};
}

const struct ins_peer *ins_peers_of(const struct ins_peers *peers, uint32_t fd)
{
	struct ins_peer key = {0};
	char path[64], link[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/fd/%" PRIu32, (int)peers->pid, fd);
	n = peers->count ? readlink(path, link, sizeof link - 1) : -1;
	if (n < 0)
		return NULL;
	link[n] = 0;
	/* The links of pipes and files have other names. */
	if (sscanf(link, "socket:[%" SCNu64 "]", &key.inode) != 1)
		return NULL;
	return bsearch(&key, peers->peer, peers->count, sizeof key, by_inode);
}
