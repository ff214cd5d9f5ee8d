/* SPDX-License-Identifier: MIT */
/*
 * readers.c - the clients that are reading an answer, and what they may hold
 *
 * A connection is ended by a shutdown of its socket. libmicrohttpd notices that, and completes the
 * request, which drops the answer.
 */
#include "fiberctl/serve/readers.h"

#include <sys/socket.h>

#define MOST (24u << 20) /* bytes; 16 MiB of it may be answers that are kept (desk.c) */

void serve_readers_add(struct serve_readers *all, struct serve_reader *r)
{
	r->before = all->last;
	r->next = NULL;
	*(all->last ? &all->last->next : &all->first) = r;
	all->last = r;
	r->reads = true;
}

void serve_readers_remove(struct serve_readers *all, struct serve_reader *r)
{
	if (!r->reads)
		return;
	*(r->before ? &r->before->next : &all->first) = r->next;
	*(r->next ? &r->next->before : &all->last) = r->before;
	r->reads = false;
}

static void end(struct serve_readers *all, struct serve_reader *r)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	serve_readers_remove(all, r);
	if (info)
		shutdown(info->connect_fd, SHUT_RDWR);
}

/* End all readers of an answer. Returns the bytes that this frees. */
static size_t end_readers(struct serve_readers *all, const struct serve_answer *answer)
{
	struct serve_reader *r, *next;
	unsigned ended = 0;

	for (r = all->first; r; r = next) {
		next = r->next;
		if (r->answer != answer)
			continue;
		end(all, r);
		ended++;
	}
	return ended == answer->uses ? answer->size : 0;
}

void serve_readers_bound(struct serve_readers *all)
{
	size_t bytes = serve_answer_bytes();

	while (bytes > MOST && all->first)
		bytes -= end_readers(all, all->first->answer);
}
