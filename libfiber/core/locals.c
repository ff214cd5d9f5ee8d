/* SPDX-License-Identifier: MIT */
/*
 * locals.c - keys, and the values that a fiber has under them
 *
 * A key contains a slot and the number of the slot's use, because a slot is used again after its
 * key was deleted. A fiber's table is indexed by the slot and stores the whole key beside the
 * value. So a lookup is two comparisons in the fiber's own memory, and a value set under a deleted
 * key is never found under the next key of the same slot.
 *
 * The keys are one array of words for the whole process, without a lock, as in glibc's pthread
 * keys. A word says how often the slot was used and whether it is in use. A successful
 * compare-and-swap takes the slot; the destructor is stored after that. No thread can ask for it
 * before, because the new key is not yet known, but a thread may still ask for that of the previous
 * key.
 */
#include "core/locals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"

#define USED	 1u
#define USES_MAX (UINT32_MAX >> FIB_KEY_BITS)
#define LEAST	 8u /* slots of the smallest table */

/* A any thread, atomic */
static struct {
	_Atomic uint32_t word;		    /* uses << 1 | USED */
	void (*_Atomic destroy)(void *arg); /* A:locals.destroy */
} keys[FIB_KEYS_MAX];

/* The slot's word while key is in use. */
static uint32_t word_of(fiber_key_t key)
{
	return (key >> FIB_KEY_BITS) << 1 | USED;
}

static bool in_use(fiber_key_t key)
{
	return fib_load_acquire(&keys[key % FIB_KEYS_MAX].word) == word_of(key);
}

int fiber_key_create(fiber_key_t *ret, void (*destroy)(void *))
{
	uint32_t slot, word, uses;

	for (slot = 0; slot < FIB_KEYS_MAX; slot++) {
		word = fib_load(&keys[slot].word);
		uses = (word >> 1) + 1;
		/* A slot with too many uses is never used again: its first key may still be stored
		 * somewhere. */
		if (word & USED || uses > USES_MAX ||
		    !fib_cas(&keys[slot].word, &word, uses << 1 | USED))
			continue;
		/* label: locals.destroy -- a thread that sees it also sees that the previous key
		 * was deleted. */
		fib_store_release(&keys[slot].destroy, destroy);
		if (ret)
			*ret = uses << FIB_KEY_BITS | slot;
		return 0;
	}
	return -EAGAIN;
}

int fiber_key_delete(fiber_key_t key)
{
	uint32_t word = word_of(key);

	if (!(key >> FIB_KEY_BITS) || !fib_cas(&keys[key % FIB_KEYS_MAX].word, &word, word & ~USED))
		return -EINVAL;
	return 0;
}

/* The destructor of key's values; NULL if it has none or the key was deleted. */
static void (*destructor(fiber_key_t key))(void *)
{
	/* pairs: locals.destroy */
	void (*destroy)(void *) = fib_load_acquire(&keys[key % FIB_KEYS_MAX].destroy);

	return in_use(key) ? destroy : NULL;
}

/*
 * A collector may stop the fiber at any instruction, and reads its table. So *locals always is a
 * complete table: the old one is freed when the new one is there.
 */
static int grow(struct fib_locals **locals, uint32_t slot)
{
	uint32_t before = *locals ? (*locals)->count : 0, count = LEAST;
	struct fib_locals *more, *old = *locals;

	while (count <= slot)
		count *= 2;
	more = calloc(1, sizeof *more + count * sizeof more->at[0]);
	if (!more)
		return -ENOMEM;
	if (old)
		memcpy(more, old, sizeof *old + before * sizeof old->at[0]);
	more->count = count;
	fib_fence_compiler();
	*locals = more;
	fib_fence_compiler();
	free(old);
	return 0;
}

int fib_locals_set(struct fib_locals **locals, fiber_key_t key, const void *value)
{
	uint32_t slot = key % FIB_KEYS_MAX;
	int rc;

	if (!(key >> FIB_KEY_BITS) || !in_use(key))
		return -EINVAL;
	if (!*locals || slot >= (*locals)->count) {
		if (!value)
			return 0;
		rc = grow(locals, slot);
		if (rc < 0)
			return rc;
	}
	(*locals)->at[slot].key = key;
	(*locals)->at[slot].value = (void *)(uintptr_t)value;
	return 0;
}

int fib_locals_preset(const struct fiber_local *values, size_t n, struct fib_locals **ret)
{
	struct fib_locals *locals = NULL;
	size_t i;
	int rc;

	for (i = 0; i < n; i++) {
		rc = fib_locals_set(&locals, values[i].key, values[i].value);
		if (rc < 0) {
			fib_locals_free(locals);
			return rc;
		}
	}
	*ret = locals;
	return 0;
}

bool fib_locals_next(struct fib_locals *locals, void (**ret_destroy)(void *), void **ret_value)
{
	for (; locals->round < FIB_KEY_ROUNDS; locals->round++) {
		while (locals->next < locals->count) {
			struct fib_local *l = &locals->at[locals->next++];
			void (*destroy)(void *) = l->value ? destructor(l->key) : NULL;

			if (!destroy)
				continue;
			*ret_destroy = destroy;
			*ret_value = l->value;
			l->value = NULL;
			locals->again = true;
			return true;
		}
		if (!locals->again)
			return false;
		locals->again = false;
		locals->next = 0;
	}
	return false;
}

void fib_locals_free(struct fib_locals *locals)
{
	free(locals);
}
