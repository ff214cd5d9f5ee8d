/* SPDX-License-Identifier: MIT */
/*
 * chunks.c - the objects in an area of memory that malloc() of glibc manages
 *
 * A pointer into an object makes all of the object reachable. From outside only malloc()'s headers
 * tell how large an object is. glibc's chunks follow each other without gaps: a chunk at p has its
 * size at p + 8, and the next chunk is at p + size. If the previous chunk is free, its size is
 * repeated at p. A chain of chunks that ends exactly at the end of the area cannot be accidental.
 * Three kinds of area begin with such a chain:
 *
 *	the heap		at its start
 *	a heap of a thread	at 64 MiB, after a struct heap_info and perhaps the arena
 *	large blocks		one chunk each, whole pages, with the flag MMAPPED
 *
 * The first chunk of a heap is the cache of the thread that used malloc() first. An area without that is
 * not the heap of glibc, though it may look like chunks.
 *
 * Where no chain checks out, the area is one object. So another allocator costs findings, and never
 * makes a wrong one. In a heap whose chain breaks (the program runs while it is read), the rest
 * of the area is one object.
 *
 * Free chunks are no objects: what their last owner left in them is not followed. The bins of malloc()
 * and its caches of free chunks are recognised and not followed either; otherwise they would lead
 * into freed objects.
 */
#include "inspect/leaks/chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GRAIN	  16u
#define HEADER	  16u /* bytes of a chunk before the object */
#define PAGE	  4096u
#define SEARCH	  4096u /* bytes at the start of a thread's heap where its first chunk may be */
#define PREVIOUS  1u	/* flags in the size: the previous chunk is in use */
#define MMAPPED	  2u
#define FLAGS	  7u
#define CACHE	  0x290u /* size of the chunk with a thread's cache, of glibc 2.30 to 2.41 */
#define CACHES	  64u
#define BINS_LAST 252u /* words from the first bin to the last one */

struct ins_chunks {
	uint64_t start, end;
	uint64_t first;	  /* the first chunk, where the cache of the arena's first thread is */
	uint64_t tail;	  /* the last object begins here; nothing is known about it */
	uint64_t top;	  /* the chunk at the end that is free for new objects; 0: none */
	uint64_t *starts; /* a bit for each grain: a chunk begins here */
	uint64_t *free;	  /* the chunk that begins here is free */
	uint64_t *marked;
	uint32_t *cover; /* by page: the grain where the chunk begins that covers its first byte */
	size_t count;
};

static bool get(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static void set(uint64_t *bits, uint64_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

/* How many words a bitmap has. */
static size_t words_of(const struct ins_chunks *c)
{
	return (c->end - c->start + PAGE - 1) / PAGE * (PAGE / GRAIN) / 64;
}

static uint64_t grain_of(const struct ins_chunks *c, uint64_t address)
{
	return (address - c->start) / GRAIN;
}

/* -- the chain -- */

/* Whether a chunk may be at p, by itself. *ret_size: of it. */
static bool is_chunk(const struct ins_chunks *c, struct ins_windows *w, uint64_t p, bool blocks,
		     uint64_t *ret_size)
{
	const uint64_t word = ins_windows_word(w, p + 8), size = word & ~(uint64_t)FLAGS;

	*ret_size = size;
	if (size < 2 * GRAIN || size % GRAIN || size > c->end - p)
		return false;
	if (blocks)
		return (word & FLAGS) == MMAPPED && size % PAGE == 0 && p % PAGE == 0 &&
		       ins_windows_word(w, p) == 0;
	return !(word & MMAPPED);
}

/*
 * Whether the chunks end at p, shortly before the end of the area: a heap that could not grow has two
 * headers there, of sizes 16 and 0.
 */
static bool is_end(struct ins_windows *w, uint64_t p, uint64_t end)
{
	if (end - p == 2 * HEADER && ins_windows_word(w, p + 8) == (HEADER | PREVIOUS))
		p += HEADER;
	return end - p == HEADER && ins_windows_word(w, p + 8) == PREVIOUS;
}

/* Follow the chain from p, and note its chunks. Returns where it breaks or ends. */
static uint64_t follow(struct ins_chunks *c, struct ins_windows *w, uint64_t p, uint64_t end,
		       bool blocks)
{
	while (p < end && !is_end(w, p, end)) {
		uint64_t size, next;
		bool is_free = false;

		if (!is_chunk(c, w, p, blocks, &size) || size > end - p)
			return p;
		next = p + size;
		if (!blocks && next < end) {
			is_free = !(ins_windows_word(w, next + 8) & PREVIOUS);
			if (is_free && ins_windows_word(w, next) != size)
				return p;
		}
		set(c->starts, grain_of(c, p));
		if (is_free)
			set(c->free, grain_of(c, p));
		c->count++;
		c->top = next == end && !blocks ? p : 0;
		p = next;
	}
	return p < end ? end : p;
}

/* The end of the chunks in a thread's heap, which says how much of it is used. */
static uint64_t heap_end(const struct ins_chunks *c, struct ins_windows *w)
{
	const uint64_t size = ins_windows_word(w, c->start + 16);

	return size % PAGE == 0 && size && size <= c->end - c->start ? c->start + size : 0;
}

/* Forget the chunks that were noted up to `until`. */
static void forget(struct ins_chunks *c, uint64_t until)
{
	const size_t words = (grain_of(c, until) + 63) / 64;

	memset(c->starts, 0, words * sizeof *c->starts);
	memset(c->free, 0, words * sizeof *c->free);
	c->count = 0;
	c->top = 0;
}

/* Note the chain from p. False: it does not end at `end`; nothing is noted. */
static bool take_chain(struct ins_chunks *c, struct ins_windows *w, uint64_t p, uint64_t end,
		       bool blocks)
{
	c->first = p;
	c->tail = follow(c, w, p, end, blocks);
	if (c->tail == end && c->count)
		return true;
	forget(c, c->tail < c->end ? c->tail : c->end);
	return false;
}

/*
 * Whether the chunk at p is a thread's cache of free chunks: counters, then pointers. A counter is 0
 * where the pointer is NULL.
 */
static bool is_cache(struct ins_windows *w, uint64_t p)
{
	struct {
		uint16_t count[CACHES];
		uint64_t entry[CACHES];
	} cache;
	size_t i;

	ins_windows_copy(w, p + HEADER, &cache, sizeof cache);
	for (i = 0; i < CACHES; i++)
		if (!cache.count[i] != !cache.entry[i] || cache.count[i] > 127)
			return false;
	return true;
}

/* Whether the first chunk of the area is a thread's cache: so it is in the heap of each program. */
static bool begins_with_cache(const struct ins_chunks *c, struct ins_windows *w)
{
	return ins_windows_word(w, c->start + 8) == (CACHE | PREVIOUS) && is_cache(w, c->start);
}

/*
 * Find the chain. False: the area has none. A chain that breaks is accepted only where the kernel says
 * that there is a heap.
 */
static bool find_chain(struct ins_chunks *c, struct ins_windows *w, bool heap)
{
	uint64_t p, end;

	if (begins_with_cache(c, w)) {
		if (take_chain(c, w, c->start, c->end, false))
			return true;
		if (heap) {
			c->tail = follow(c, w, c->start, c->end, false);
			return true;
		}
	}
	if (take_chain(c, w, c->start, c->end, true))
		return true;
	if (c->start % INS_CHUNKS_HEAP || c->end - c->start > INS_CHUNKS_HEAP)
		return false;
	end = heap_end(c, w);
	for (p = c->start + 2 * GRAIN; end && p < c->start + SEARCH && p < end; p += GRAIN)
		if (take_chain(c, w, p, end, false))
			return true;
	return false;
}

/* Note which chunk covers the start of each page. */
static void fill_cover(struct ins_chunks *c)
{
	const uint64_t pages = (c->end - c->start + PAGE - 1) / PAGE, per = PAGE / GRAIN;
	uint32_t last = 0;
	uint64_t page, i;

	for (page = 0; page < pages; page++) {
		c->cover[page] = last;
		for (i = per; i > 0; i--)
			if (get(c->starts, page * per + i - 1)) {
				last = (uint32_t)(page * per + i - 1);
				break;
			}
	}
}

static bool allocate(struct ins_chunks *c)
{
	const uint64_t pages = (c->end - c->start + PAGE - 1) / PAGE;
	const size_t words = words_of(c);

	c->starts = calloc(words, sizeof *c->starts);
	c->free = calloc(words, sizeof *c->free);
	c->marked = calloc(words, sizeof *c->marked);
	c->cover = calloc(pages, sizeof *c->cover);
	return c->starts && c->free && c->marked && c->cover;
}

/*
 * Whether the area may have chunks, from its first words: most areas have none, and are not worth the
 * memory for a search.
 */
static bool is_likely(struct ins_chunks *c, struct ins_windows *w)
{
	uint64_t size;

	if (c->start % GRAIN || c->end - c->start < PAGE ||
	    (c->end - c->start) / GRAIN > UINT32_MAX)
		return false;
	return begins_with_cache(c, w) || is_chunk(c, w, c->start, true, &size) ||
	       (c->start % INS_CHUNKS_HEAP == 0 && heap_end(c, w));
}

int ins_chunks_find(struct ins_windows *windows, uint64_t start, uint64_t end, bool heap,
		    struct ins_chunks **ret)
{
	struct ins_chunks *c = calloc(1, sizeof *c);

	*ret = NULL;
	if (!c)
		return -ENOMEM;
	c->start = start;
	c->end = end;
	if (!is_likely(c, windows)) {
		free(c);
		return 0;
	}
	if (!allocate(c)) {
		ins_chunks_free(c);
		return -ENOMEM;
	}
	if (!find_chain(c, windows, heap)) {
		ins_chunks_free(c);
		return 0;
	}
	/* What is before the first chunk, and after the last one, are objects too. */
	set(c->starts, 0);
	if (c->tail < end)
		set(c->starts, grain_of(c, c->tail));
	fill_cover(c);
	*ret = c;
	return 0;
}

void ins_chunks_free(struct ins_chunks *chunks)
{
	if (!chunks)
		return;
	free(chunks->starts);
	free(chunks->free);
	free(chunks->marked);
	free(chunks->cover);
	free(chunks);
}

size_t ins_chunks_count(const struct ins_chunks *chunks)
{
	return chunks->count;
}

/* -- objects -- */

/* The grain of the chunk that has this grain. */
static uint64_t chunk_at(const struct ins_chunks *c, uint64_t grain)
{
	const uint64_t per = PAGE / GRAIN, first = grain / per * per;
	uint64_t word = grain / 64, bits;

	bits = c->starts[word] & (UINT64_MAX >> (63 - grain % 64));
	while (!bits && word * 64 > first)
		bits = c->starts[--word];
	return bits ? word * 64 + 63 - (uint64_t)__builtin_clzll(bits) : c->cover[grain / per];
}

/* The address of the chunk after the one at grain. */
static uint64_t next_chunk(const struct ins_chunks *c, uint64_t grain)
{
	const uint64_t words = words_of(c);
	uint64_t word = (grain + 1) / 64, bits;

	if (word >= words)
		return c->end;
	bits = c->starts[word] & (UINT64_MAX << (grain + 1) % 64);
	while (!bits && ++word < words)
		bits = c->starts[word];
	return bits ? c->start + (word * 64 + (uint64_t)__builtin_ctzll(bits)) * GRAIN : c->end;
}

/*
 * Whether the pointer to the chunk p, found at `at`, is malloc()'s own: a bin, which the free chunk
 * points back to, or the arena's pointer to the last chunk, which the empty last bin follows.
 */
static bool is_bin(struct ins_chunks *c, struct ins_windows *w, uint64_t p, uint64_t at)
{
	if (!at || p % GRAIN || !get(c->starts, grain_of(c, p)))
		return false;
	if (p == c->top)
		return ins_windows_word(w, at + 16 + BINS_LAST * 8) == at + BINS_LAST * 8;
	return get(c->free, grain_of(c, p)) &&
	       (ins_windows_word(w, p + 24) == at - 16 || ins_windows_word(w, p + 16) == at - 24);
}

bool ins_chunks_mark_any(struct ins_chunks *chunks, struct ins_windows *windows, uint64_t address,
			 uint64_t *ret_low, uint64_t *ret_high)
{
	struct ins_chunks *c = chunks;
	const uint64_t grain = chunk_at(c, grain_of(c, address));
	uint64_t header[2];

	if (get(c->marked, grain))
		return false;
	set(c->marked, grain);
	*ret_low = c->start + grain * GRAIN;
	*ret_high = next_chunk(c, grain);
	ins_windows_copy(windows, *ret_low, header, sizeof header);
	header[1] &= ~(uint64_t)FLAGS;
	if (header[1] <= c->end - *ret_low && *ret_low + header[1] > *ret_high)
		*ret_high = *ret_low + header[1];
	if (*ret_high < c->end)
		*ret_high += 8;
	return true;
}

void ins_chunks_unmark(struct ins_chunks *chunks)
{
	memset(chunks->marked, 0, words_of(chunks) * sizeof *chunks->marked);
}

bool ins_chunks_mark(struct ins_chunks *chunks, struct ins_windows *windows, uint64_t address,
		     uint64_t at, uint64_t *ret_low, uint64_t *ret_high)
{
	struct ins_chunks *c = chunks;
	uint64_t grain = chunk_at(c, grain_of(c, address)), low = c->start + grain * GRAIN;
	const bool chunk = low < c->tail && grain;

	/* The last 8 bytes of an object are in the header of the next chunk. */
	if (chunk && address - low < 8) {
		if (is_bin(c, windows, low, at))
			return false;
		grain = chunk_at(c, grain - 1);
		low = c->start + grain * GRAIN;
	} else if (chunk && address - low < HEADER) {
		return false;
	}
	if (get(c->free, grain) || get(c->marked, grain) || (c->top && low == c->top))
		return false;
	set(c->marked, grain);
	*ret_high = next_chunk(c, grain);
	if (low == c->first && *ret_high - low == CACHE && is_cache(windows, low))
		return false;
	*ret_low = low;
	/* Its last word is in the next chunk's header. */
	if (*ret_high < c->end)
		*ret_high += 8;
	return true;
}
