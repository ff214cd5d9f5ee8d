/* SPDX-License-Identifier: MIT */
/* list.h - a doubly linked ring with a head, for waiters and idle stacks. Not thread-safe. */
#ifndef FIB_BASE_LIST_H
#define FIB_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct fib_list {
	struct fib_list *next, *prev;
};

static inline void fib_list_init(struct fib_list *head)
{
	head->next = head->prev = head;
}

static inline bool fib_list_empty(const struct fib_list *head)
{
	return head->next == head;
}

static inline void fib_list_append(struct fib_list *head, struct fib_list *node)
{
	node->next = head;
	node->prev = head->prev;
	head->prev->next = node;
	head->prev = node;
}

/* Unlink the node and mark it as in no list. */
static inline void fib_list_remove(struct fib_list *node)
{
	/* The analyser believes that the head can lead to a node that was already removed. */
	node->prev->next = node->next; /* NOLINT(clang-analyzer-core.NullDereference) */
	node->next->prev = node->prev;
	node->next = node->prev = NULL;
}

static inline struct fib_list *fib_list_take(struct fib_list *head)
{
	struct fib_list *node = head->next;

	if (node == head)
		return NULL;
	fib_list_remove(node);
	return node;
}

#define fib_list_each(node, head) for (node = (head)->next; node != (head); node = node->next)

#endif
