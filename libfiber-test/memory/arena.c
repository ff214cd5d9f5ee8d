/* SPDX-License-Identifier: MIT */
/* arena.c - chunks that are filled from their start, and filled again by the next schedule */
#include "memory/arena.h"

#include <stdint.h>
#include <sys/mman.h>

#include "base/check.h"

#define CHUNK (1u << 20)

struct chunk {
	struct chunk *next;
	size_t size;
	_Alignas(16) unsigned char at[];
};

static struct {
	struct chunk *first, *now;
	size_t used;
} arena;

void *fib_arena_keep(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	fib_check(at != MAP_FAILED);
	return at;
}

static struct chunk *new_chunk(size_t least)
{
	const size_t whole =
		least + sizeof(struct chunk) > CHUNK ? least + sizeof(struct chunk) : CHUNK;
	struct chunk *chunk = fib_arena_keep(whole);

	chunk->size = whole - sizeof *chunk;
	return chunk;
}

/* Continue in the next chunk that is large enough. */
static void go_on(size_t size)
{
	struct chunk **link = arena.now ? &arena.now->next : &arena.first;
	struct chunk *chunk;

	if (!*link || (*link)->size < size) {
		chunk = new_chunk(size);
		chunk->next = *link;
		*link = chunk;
	}
	arena.now = *link;
	arena.used = 0;
}

void *fib_arena_take(size_t size)
{
	void *at;

	size = (size + 15) & ~(size_t)15;
	if (!arena.now || arena.now->size - arena.used < size)
		go_on(size);
	at = arena.now->at + arena.used;
	arena.used += size;
	return at;
}

void fib_arena_reset(void)
{
	arena.now = arena.first;
	arena.used = 0;
}
