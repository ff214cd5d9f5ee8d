/* SPDX-License-Identifier: MIT */
/*
 * group.c - count fibers that are in the same place
 *
 * A hash table maps (key, state, wait kind, addresses of the shown frames) to a group. Fields in which members differ
 * are cleared in the group's fiber, so what is shown of a group is true for all members. Ages are
 * kept for the median: eight bytes a fiber.
 */
#include "inspect/query/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/unwind/library_frames.h"

struct ins_groups {
	struct ins_texts *keys;
	struct ins_group **at;
	size_t count;
	size_t *slots;		/* index + 1 into at; 0: free */
	struct ins_group *last; /* the group of the last added fiber */
	size_t room;		/* number of slots, a power of two; at has half as many */
};

int ins_groups_new(struct ins_groups **ret)
{
	struct ins_groups *g = calloc(1, sizeof *g);

	*ret = g;
	if (!g)
		return -ENOMEM;
	if (ins_texts_new(&g->keys) == 0)
		return 0;
	ins_groups_free(g);
	*ret = NULL;
	return -ENOMEM;
}

static void free_group(struct ins_group *g)
{
	if (g) {
		free(g->walk);
		ins_variables_free(g->variables);
		ins_distribution_drop(&g->ages);
		free(g);
	}
}

void ins_groups_free(struct ins_groups *groups)
{
	size_t i;

	if (!groups)
		return;
	for (i = 0; i < groups->count; i++)
		free_group(groups->at[i]);
	ins_texts_free(groups->keys);
	free(groups->at);
	free(groups->slots);
	free(groups);
}

static uint64_t hash(const struct ins_text_kept *key, const struct fib_row *row,
		     const struct ins_walk *walk)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)(uintptr_t)key << 20 ^ row->state ^
		     (uint64_t)row->wait_kind << 8 ^ (uint64_t)walk->truncated << 16;
	unsigned i;

	for (i = 0; i < walk->count; i++)
		if (!ins_walk_hidden(walk, i))
			h = (h ^ walk->pc[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ (h >> 29);
	return h ^ (h >> 32);
}

static bool equal(const struct ins_group *g, const struct ins_text_kept *key,
		  const struct fib_row *row, const struct ins_walk *walk)
{
	return g->key == key && g->fiber.row.state == row->state &&
	       g->fiber.row.wait_kind == row->wait_kind && g->walk->truncated == walk->truncated &&
	       ins_walk_equal(g->walk, walk);
}

static size_t *slot_of(struct ins_groups *groups, const struct ins_text_kept *key,
		       const struct fib_row *row, const struct ins_walk *walk)
{
	size_t i = (size_t)hash(key, row, walk) & (groups->room - 1);

	while (groups->slots[i] && !equal(groups->at[groups->slots[i] - 1], key, row, walk))
		i = (i + 1) & (groups->room - 1);
	return &groups->slots[i];
}

static int make_room(struct ins_groups *groups)
{
	size_t room = 64, i;
	struct ins_group **at;
	size_t *slots;

	if (groups->count * 2 < groups->room)
		return 0;
	while (room <= groups->count * 2)
		room *= 2;
	at = realloc(groups->at, room / 2 * sizeof(struct ins_group *));
	if (!at)
		return -ENOMEM;
	groups->at = at;
	slots = calloc(room, sizeof *slots);
	if (!slots)
		return -ENOMEM;
	free(groups->slots);
	groups->slots = slots;
	groups->room = room;
	for (i = 0; i < groups->count; i++)
		*slot_of(groups, at[i]->key, &at[i]->fiber.row, at[i]->walk) = i + 1;
	return 0;
}

static struct ins_group *new_group(const struct ins_text_kept *key, const struct ins_fiber *fiber,
				   const struct ins_walk *walk)
{
	struct ins_group *g = calloc(1, sizeof *g);
	size_t size;

	if (!g)
		return NULL;
	/* Allocate only the used length: a million fibers may be in as many places. */
	size = offsetof(struct ins_walk, pc) + walk->count * sizeof walk->pc[0];
	g->walk = malloc(size);
	if (!g->walk) {
		free(g);
		return NULL;
	}
	memcpy(g->walk, walk, size);
	g->key = key;
	g->fiber = *fiber;
	g->fiber.stack = NULL;
	g->fiber.stack_size = 0;
	g->same_wait = true;
	return g;
}

/* Clear the wait fields of the group in which this member differs. */
static void share(struct ins_group *g, const struct fib_row *row)
{
	struct fib_row *mine = &g->fiber.row;

	const bool same_arg = mine->wait_arg == row->wait_arg ||
			      mine->wait_kind == FIB_WAIT_OFFLOAD; /* where the call's thread is */

	const bool same_object =
		mine->wait_object == row->wait_object &&
		(!fib_row_polled(row) || strcmp(mine->object_name, row->object_name) == 0);

	if (!same_object || !same_arg)
		g->same_wait = false;
	if (!same_object) {
		mine->wait_object = 0;
		mine->object_name[0] = 0;
	}
	if (!same_arg) {
		/* For a descriptor, the events may still be equal. */
		mine->wait_arg = mine->wait_kind == FIB_WAIT_FD &&
						 mine->wait_arg >> 32 == row->wait_arg >> 32
					 ? (mine->wait_arg & ~UINT64_C(0xffffffff)) | UINT32_MAX
					 : FIB_ROW_UNKNOWN;
	}
	if (mine->holder != row->holder)
		mine->holder = 0;
	if (mine->deadline != row->deadline)
		mine->deadline = INT64_MAX;
	if (mine->carrier != row->carrier)
		mine->carrier = FIB_ROW_CARRIER_NONE;
}

/* Equal walks may have been cut off at different lengths. */
static void share_cut(struct ins_walk *mine, const struct ins_walk *walk)
{
	if (walk->left > mine->left) {
		mine->left = walk->left;
		mine->limit = walk->limit;
	}
	if (walk->left_least < mine->left_least)
		mine->left_least = walk->left_least;
}

static int count_in(struct ins_group *g, const struct fib_row *row)
{
	g->count++;
	ins_sample_lowest(&g->ids, row->id);
	return ins_distribution_add(&g->ages, row->age);
}

int ins_groups_add(struct ins_groups *groups, const char *key, const struct ins_fiber *fiber,
		   const struct ins_walk *walk)
{
	const struct ins_text_kept *text = NULL;
	int rc = make_room(groups);
	struct ins_group *g;
	size_t *slot;

	if (rc < 0)
		return rc;
	if (key) {
		text = ins_texts_add(groups->keys, key, 1);
		if (!text)
			return -ENOMEM;
	}
	slot = slot_of(groups, text, &fiber->row, walk);
	if (!*slot) {
		g = new_group(text, fiber, walk);
		if (!g)
			return -ENOMEM;
		rc = count_in(g, &fiber->row);
		if (rc < 0) {
			free_group(g);
			return rc;
		}
		groups->at[groups->count++] = g;
		*slot = groups->count;
		groups->last = g;
		return 0;
	}
	g = groups->last = groups->at[*slot - 1];
	share(g, &fiber->row);
	share_cut(g->walk, walk);
	return count_in(g, &fiber->row);
}

struct ins_group *ins_groups_last(struct ins_groups *groups)
{
	return groups->last;
}

static int by_size(const void *a, const void *b)
{
	const struct ins_group *x = *(struct ins_group *const *)a;
	const struct ins_group *y = *(struct ins_group *const *)b;

	if (x->key != y->key) {
		if (!x->key || !y->key)
			return x->key ? -1 : 1;
		if (x->key->count != y->key->count)
			return x->key->count > y->key->count ? -1 : 1;
		return strcmp(x->key->text, y->key->text);
	}
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->ids.id[0] < y->ids.id[0] ? -1 : x->ids.id[0] > y->ids.id[0];
}

void ins_groups_sort(struct ins_groups *groups)
{
	size_t i;

	for (i = 0; i < groups->count; i++)
		ins_distribution_settle(&groups->at[i]->ages);
	if (groups->count)
		qsort(groups->at, groups->count, sizeof(struct ins_group *), by_size);
	free(groups->slots); /* they have the indices before the sort */
	groups->slots = NULL;
	groups->room = 0;
}

size_t ins_groups_count(const struct ins_groups *groups)
{
	return groups->count;
}

const struct ins_group *ins_groups_at(const struct ins_groups *groups, size_t i)
{
	return groups->at[i];
}
