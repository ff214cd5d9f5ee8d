/* SPDX-License-Identifier: MIT */
/*
 * profile.c - add up a number and a time for each stack that was seen
 *
 * Two hash tables: one maps a walk, by the addresses of its shown frames, to its number; one maps
 * a list of parts to its stack. A text is a set's (texts.h). The number of a part is even for a walk
 * and odd for a text.
 */
#include "inspect/query/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/texts.h"
#include "inspect/unwind/library_frames.h"

/* Pointers in the order in which they were added, and a hash table of their indices. */
struct set {
	void **at;
	size_t count;
	size_t *slots; /* index + 1 into at; 0: free */
	size_t room;   /* number of slots, a power of two; at has half as many */
};

struct ins_profile {
	struct set walks, stacks;
	struct ins_texts *texts;
	const struct ins_text_kept **text_at; /* by number */
	size_t text_count, text_room;
};

#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix(uint64_t h, uint64_t n)
{
	return (h ^ n) * FACTOR ^ (h >> 29);
}

static uint64_t walk_hash(const void *key)
{
	const struct ins_walk *walk = key;
	uint64_t h = walk->truncated;
	unsigned i;

	for (i = 0; i < walk->count; i++)
		if (!ins_walk_hidden(walk, i))
			h = mix(h, walk->pc[i]);
	return h ^ (h >> 32);
}

static bool walk_equal(const void *a, const void *b)
{
	const struct ins_walk *x = a, *y = b;

	return x->truncated == y->truncated && ins_walk_equal(x, y);
}

static uint64_t stack_hash(const void *key)
{
	const struct ins_profile_stack *stack = key;
	uint64_t h = stack->count;
	unsigned i;

	for (i = 0; i < stack->count; i++)
		h = mix(h, stack->parts[i]);
	return h ^ (h >> 32);
}

static bool stack_equal(const void *a, const void *b)
{
	const struct ins_profile_stack *x = a, *y = b;

	return x->count == y->count &&
	       memcmp(x->parts, y->parts, x->count * sizeof x->parts[0]) == 0;
}

typedef uint64_t hash_fn(const void *key);
typedef bool equal_fn(const void *a, const void *b);

/* Where key is, or will be. The set has room. */
static size_t *slot_of(const struct set *set, const void *key, hash_fn *hash, equal_fn *equal)
{
	size_t i = (size_t)hash(key) & (set->room - 1);

	while (set->slots[i] && !equal(set->at[set->slots[i] - 1], key))
		i = (i + 1) & (set->room - 1);
	return &set->slots[i];
}

static int make_room(struct set *set, hash_fn *hash, equal_fn *equal)
{
	const size_t room = set->room ? set->room * 2 : 64;
	void **at;
	size_t i;

	if (set->count * 2 < set->room)
		return 0;
	at = realloc(set->at, room / 2 * sizeof *at);
	if (!at)
		return -ENOMEM;
	set->at = at;
	free(set->slots);
	set->room = room;
	set->slots = calloc(room, sizeof *set->slots);
	if (!set->slots) {
		set->room = 0;
		return -ENOMEM;
	}
	for (i = 0; i < set->count; i++)
		*slot_of(set, set->at[i], hash, equal) = i + 1;
	return 0;
}

/* The index of key, of which a copy of that size is kept. */
static int find(struct set *set, const void *key, size_t size, hash_fn *hash, equal_fn *equal,
		size_t *ret)
{
	size_t *slot;
	void *copy;
	int rc = make_room(set, hash, equal);

	if (rc < 0)
		return rc;
	slot = slot_of(set, key, hash, equal);
	if (!*slot) {
		copy = malloc(size);
		if (!copy)
			return -ENOMEM;
		set->at[set->count++] = memcpy(copy, key, size);
		*slot = set->count;
	}
	*ret = *slot - 1;
	return 0;
}

static void free_set(struct set *set)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		free(set->at[i]);
	free(set->at);
	free(set->slots);
}

int ins_profile_new(struct ins_profile **ret)
{
	struct ins_profile *p = calloc(1, sizeof *p);

	*ret = p;
	if (!p)
		return -ENOMEM;
	if (ins_texts_new(&p->texts) == 0)
		return 0;
	free(p);
	*ret = NULL;
	return -ENOMEM;
}

void ins_profile_free(struct ins_profile *profile)
{
	if (!profile)
		return;
	free_set(&profile->walks);
	free_set(&profile->stacks);
	ins_texts_free(profile->texts);
	free(profile->text_at);
	free(profile);
}

int ins_profile_walk(struct ins_profile *profile, const struct ins_walk *walk,
		     ins_profile_part *ret)
{
	/* Only the used part of the addresses is kept. */
	const size_t size = offsetof(struct ins_walk, pc) + walk->count * sizeof walk->pc[0];
	size_t at;
	int rc = find(&profile->walks, walk, size, walk_hash, walk_equal, &at);

	if (rc == 0)
		*ret = (ins_profile_part)(2 * at);
	return rc;
}

/* Keep a new text under its number, the next one. */
static int number_text(struct ins_profile *p, const struct ins_text_kept *kept)
{
	const size_t room = p->text_room ? p->text_room * 2 : 64;
	const struct ins_text_kept **at;

	if (p->text_count == p->text_room) {
		at = realloc(p->text_at, room * sizeof *at);
		if (!at)
			return -ENOMEM;
		p->text_at = at;
		p->text_room = room;
	}
	p->text_at[p->text_count++] = kept;
	return 0;
}

int ins_profile_text(struct ins_profile *profile, const char *text, ins_profile_part *ret)
{
	const struct ins_text_kept *kept = ins_texts_add(profile->texts, text, 1);

	if (!kept || (kept->number == profile->text_count && number_text(profile, kept) < 0))
		return -ENOMEM;
	*ret = (ins_profile_part)(2 * kept->number + 1);
	return 0;
}

int ins_profile_add(struct ins_profile *profile, const ins_profile_part *parts, unsigned count,
		    uint64_t number, uint64_t time)
{
	union {
		struct ins_profile_stack stack;
		unsigned char
			bytes[sizeof(struct ins_profile_stack) + INS_PROFILE_PARTS * sizeof *parts];
	} key = {.stack = {.count = count}};
	struct ins_profile_stack *stack;
	size_t at;
	int rc;

	memcpy(key.stack.parts, parts, count * sizeof *parts);
	rc = find(&profile->stacks, &key, sizeof *stack + count * sizeof *parts, stack_hash,
		  stack_equal, &at);
	if (rc < 0)
		return rc;
	stack = profile->stacks.at[at];
	stack->number += number;
	stack->time += time;
	return 0;
}

size_t ins_profile_count(const struct ins_profile *profile)
{
	return profile->stacks.count;
}

const struct ins_profile_stack *ins_profile_at(const struct ins_profile *profile, size_t i)
{
	return profile->stacks.at[i];
}

const struct ins_walk *ins_profile_part_at(const struct ins_profile *profile, ins_profile_part part,
					   const char **ret_text)
{
	if (part % 2 == 0)
		return profile->walks.at[part / 2];
	*ret_text = profile->text_at[part / 2]->text;
	return NULL;
}
