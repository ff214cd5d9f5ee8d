/* SPDX-License-Identifier: MIT */
/*
 * components.h - the strongly connected components of a directed graph
 *
 * Two nodes are in one component if each can be reached from the other. A component of several
 * nodes, or of one with an edge to itself, is what a deadlock is made of.
 */
#ifndef INS_COMPONENTS_H
#define INS_COMPONENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The edges of node i lead to to[first[i]] ... to[first[i + 1] - 1]. */
struct ins_edges {
	size_t count; /* nodes */
	size_t *first, *to;
};

struct ins_components {
	/*
	 * The component of each node. An edge to another component leads to a lower number. SIZE_MAX:
	 * the node was left out.
	 */
	size_t *of;
	size_t count;
	bool *round;	/* of each component: it has a cycle */
	uint64_t steps; /* nodes and edges that were looked at */
};

/*
 * Find the components in time linear in nodes and edges. without: nodes to leave out; NULL: none.
 * The caller frees ret in every case. 0, or -ENOMEM.
 */
int ins_components_find(const struct ins_edges *edges, const bool *without,
			struct ins_components *ret);
void ins_components_free(struct ins_components *components);

#endif
