/* SPDX-License-Identifier: MIT */
/* configurations.c - a hash table of byte strings with limits of memory */
#include "history/configurations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 64u
#define ROOM_FIRST  ((size_t)4096)

struct head {
	uint64_t hash;
	uint32_t size;
	uint32_t dead;
};

int fib_configurations_init(struct fib_configurations *set, size_t count_max, size_t bytes_max)
{
	*set = (struct fib_configurations){.count_max = count_max, .room_max = bytes_max};
	set->slots = SLOTS_FIRST;
	set->room = ROOM_FIRST;
	set->table = calloc(set->slots, sizeof *set->table);
	set->bytes = malloc(set->room);
	return set->table && set->bytes ? 0 : -ENOMEM;
}

void fib_configurations_free(struct fib_configurations *set)
{
	free(set->table);
	free(set->bytes);
	set->table = NULL;
	set->bytes = NULL;
}

static struct head *head_of(const struct fib_configurations *set, size_t record)
{
	return (struct head *)(void *)(set->bytes + record);
}

const unsigned char *fib_configurations_key(const struct fib_configurations *set, size_t record)
{
	return set->bytes + record + sizeof(struct head);
}

bool fib_configurations_is_dead(const struct fib_configurations *set, size_t record)
{
	return head_of(set, record)->dead;
}

void fib_configurations_bury(struct fib_configurations *set, size_t record)
{
	head_of(set, record)->dead = 1;
}

/* A multiplication and a fold for each 8 bytes. */
static uint64_t hash_of(const unsigned char *key, size_t size)
{
	uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ size, word;
	size_t i;

	for (i = 0; i < size; i += 8) {
		memcpy(&word, key + i, 8);
		h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 32;
	}
	return h;
}

static size_t slot_of(const struct fib_configurations *set, uint64_t hash, const void *key,
		      size_t size)
{
	size_t at = hash & (set->slots - 1);

	for (; set->table[at]; at = (at + 1) & (set->slots - 1)) {
		const struct head *h = head_of(set, set->table[at] - 1);

		if (key && h->hash == hash && h->size == size && memcmp(h + 1, key, size) == 0)
			break;
	}
	return at;
}

/* At most half of the slots are in use. */
static int grow_table(struct fib_configurations *set)
{
	size_t *const old = set->table, slots = set->slots, i;

	if (2 * (set->count + 1) <= slots)
		return 0;
	set->table = calloc(2 * slots, sizeof *set->table);
	if (!set->table) {
		set->table = old;
		return -ENOMEM;
	}
	set->slots = 2 * slots;
	for (i = 0; i < slots; i++)
		if (old[i])
			set->table[slot_of(set, head_of(set, old[i] - 1)->hash, NULL, 0)] = old[i];
	free(old);
	return 0;
}

static int grow_bytes(struct fib_configurations *set, size_t more)
{
	size_t room = set->room;
	void *bytes;

	if (more > set->room_max || set->used > set->room_max - more)
		return -ENOMEM;
	while (room < set->used + more)
		room *= 2;
	if (room == set->room)
		return 0;
	bytes = realloc(set->bytes, room);
	if (!bytes)
		return -ENOMEM;
	set->bytes = bytes;
	set->room = room;
	return 0;
}

int fib_configurations_add(struct fib_configurations *set, const void *key, size_t size,
			   size_t *ret)
{
	const uint64_t hash = hash_of(key, size);
	size_t at = slot_of(set, hash, key, size);

	if (set->table[at]) {
		*ret = set->table[at] - 1;
		return 0;
	}
	if (set->count == set->count_max || grow_table(set) < 0 ||
	    grow_bytes(set, sizeof(struct head) + size) < 0)
		return -ENOMEM;
	at = slot_of(set, hash, key, size);
	*ret = set->used;
	*head_of(set, set->used) = (struct head){hash, (uint32_t)size, 0};
	memcpy(set->bytes + set->used + sizeof(struct head), key, size);
	set->used += sizeof(struct head) + size;
	set->table[at] = *ret + 1;
	set->count++;
	return 0;
}
