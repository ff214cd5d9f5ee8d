/* SPDX-License-Identifier: MIT */
/* peers.h - the peers of a live process' TCP connections, and whether they have answered */
#ifndef INS_PEERS_H
#define INS_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ins_peer {
	uint64_t inode;	  /* of the socket */
	char address[56]; /* of the peer: "10.0.0.1:80", "[::1]:80" */
	/* The last that was sent came after the last that was received; or it has not accepted. */
	bool owes;
};

struct ins_peers {
	pid_t pid;
	struct ins_peer *peer; /* by ascending inode */
	size_t count, room;
};

/*
 * Read the connections of the network namespace of a process. Returns 0 or a negative errno: -EXDEV:
 * the process is in another network namespace than the caller. ret holds no peers after an error.
 */
int ins_peers_read(pid_t pid, struct ins_peers *ret);
void ins_peers_free(struct ins_peers *peers); /* zeroed: nothing */

/* The peer of descriptor fd of the process. NULL: it is no connection, or its peer is unknown. */
const struct ins_peer *ins_peers_of(const struct ins_peers *peers, uint32_t fd);

#endif
