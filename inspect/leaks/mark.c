/* SPDX-License-Identifier: MIT */
/*
 * mark.c - which fibers can something alive still wake
 *
 * As a garbage collector marks: from the roots, word by word, each word that points to an object
 * makes that object alive. The stack of a fiber is a root only if the fiber is alive. A fiber that
 * waits for an object becomes alive when the object is reached; its stack may then reach the objects
 * of others. When nothing is left to follow, the fibers that are not alive wait for objects that
 * only they know.
 *
 * Everything that might be a pointer counts as one, to any byte of an object. So a fiber that can
 * be woken is never called lost, while a lost one may be missed.
 *
 * Records are not followed as a whole: they are linked to each other by libfiber's queues and lists,
 * and all fibers would be alive. An alive fiber's record is a root, without its pointers to other
 * records; except for its argument, which belongs to the program.
 *
 * A queue of an object that is alive leads to nodes on the stacks of its waiters. So a pointer into
 * the stack of a fiber makes the fiber alive. That finds each waiter in a select, whose record names
 * only one of its objects.
 */
#include "inspect/leaks/mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/leaks/chunks.h"
#include "inspect/leaks/spans.h"

/* By which one hides the others where they overlap, the last hides all. */
enum kind { IN_AREA, IN_ROOT, IN_DEAD, IN_RECORDS, IN_STACK, KINDS };

#define NOBODY UINT32_MAX
#define BUFFER (64u << 10)

struct range {
	uint64_t low, high;
};

struct ranges {
	struct range *at;
	size_t count, room;
};

struct words {
	uint64_t *at;
	size_t count, room;
};

/* An object that a fiber waits for. */
struct target {
	uint64_t address;
	uint32_t fiber;
};

struct one {
	struct ins_mark_fiber fiber;
	bool alive, held;
	uint32_t in_list; /* the offset of its link in a list that was followed; 0: none */
};

struct ins_mark {
	struct ins_windows *windows;
	struct ins_spans spans;
	struct ranges pending;
	struct words words;
	struct ins_chunks **chunks; /* by index of IN_AREA */
	size_t areas;
	struct one *fibers;
	size_t count, room;
	struct target *targets; /* by address */
	size_t target_count;
	uint64_t *target_pages; /* a hash set of pages with targets, as bits */
	uint64_t records, record_size, record_count, argument;
	struct target *by_record; /* by address: its fiber */
	uint64_t low, high;	  /* all spans are in between */
	unsigned char *buffer;
	bool again;	   /* ins_mark_again() was called */
	bool in_record;	   /* the words at hand are of a record */
	uint32_t in_stack; /* they are of the stack of this fiber; NOBODY: of none */
	int error;
};

#define PAGE_BITS 20u /* bits of target_pages, as a power of two */

/* -- lists -- */

static int add_range(struct ranges *r, uint64_t low, uint64_t high)
{
	if (low >= high)
		return 0;
	if (r->count == r->room) {
		const size_t room = r->room ? r->room * 2 : 256;
		struct range *more = realloc(r->at, room * sizeof *more);

		if (!more)
			return -ENOMEM;
		r->at = more;
		r->room = room;
	}
	r->at[r->count++] = (struct range){low, high};
	return 0;
}

int ins_mark_new(struct ins_windows *windows, struct ins_mark **ret)
{
	struct ins_mark *m = calloc(1, sizeof *m);

	*ret = m;
	if (!m)
		return -ENOMEM;
	m->windows = windows;
	m->buffer = malloc(BUFFER);
	m->target_pages = calloc(1, (size_t)1 << PAGE_BITS >> 3);
	if (m->buffer && m->target_pages)
		return 0;
	ins_mark_free(m);
	*ret = NULL;
	return -ENOMEM;
}

void ins_mark_free(struct ins_mark *mark)
{
	size_t i;

	if (!mark)
		return;
	for (i = 0; i < mark->areas; i++)
		ins_chunks_free(mark->chunks[i]);
	ins_spans_drop(&mark->spans);
	free(mark->chunks);
	free(mark->pending.at);
	free(mark->words.at);
	free(mark->fibers);
	free(mark->targets);
	free(mark->target_pages);
	free(mark->by_record);
	free(mark->buffer);
	free(mark);
}

/* Add an area that consists of these chunks, which are taken over; NULL: it is one object. */
static int add_area(struct ins_mark *m, uint64_t start, uint64_t end, struct ins_chunks *chunks)
{
	struct ins_chunks **more;

	if (start >= end)
		return 0;
	more = realloc(m->chunks, (m->areas + 1) * sizeof(*more));
	if (!more) {
		ins_chunks_free(chunks);
		return -ENOMEM;
	}
	m->chunks = more;
	m->chunks[m->areas] = chunks;
	return ins_spans_add(&m->spans, start, end, IN_AREA, (uint32_t)m->areas++);
}

/* Several heaps of threads may lie side by side, and other memory around them. */
int ins_mark_area(struct ins_mark *mark, uint64_t start, uint64_t end, bool heap)
{
	struct ins_chunks *chunks;
	uint64_t done = start, at = (start + INS_CHUNKS_HEAP - 1) & ~(INS_CHUNKS_HEAP - 1), until;
	int rc;

	if (start >= end)
		return 0;
	rc = ins_chunks_find(mark->windows, start, end, heap, &chunks);
	if (rc < 0 || chunks)
		return rc < 0 ? rc : add_area(mark, start, end, chunks);
	for (; rc == 0 && at < end && at >= start; at += INS_CHUNKS_HEAP) {
		until = end - at < INS_CHUNKS_HEAP ? end : at + INS_CHUNKS_HEAP;
		if (at == start && until == end)
			break; /* it was tried */
		rc = ins_chunks_find(mark->windows, at, until, false, &chunks);
		if (rc < 0 || !chunks)
			continue;
		rc = add_area(mark, done, at, NULL);
		if (rc == 0)
			rc = add_area(mark, at, until, chunks);
		done = until;
	}
	return rc < 0 ? rc : add_area(mark, done, end, NULL);
}

int ins_mark_root(struct ins_mark *mark, uint64_t start, uint64_t end)
{
	return ins_spans_add(&mark->spans, start, end, IN_ROOT, 0);
}

int ins_mark_dead(struct ins_mark *mark, uint64_t start, uint64_t end)
{
	return ins_spans_add(&mark->spans, start, end, IN_DEAD, 0);
}

int ins_mark_word(struct ins_mark *mark, uint64_t word)
{
	struct words *w = &mark->words;

	if (w->count == w->room) {
		const size_t room = w->room ? w->room * 2 : 256;
		uint64_t *more = realloc(w->at, room * sizeof *more);

		if (!more)
			return -ENOMEM;
		w->at = more;
		w->room = room;
	}
	w->at[w->count++] = word;
	return 0;
}

int ins_mark_records(struct ins_mark *mark, uint64_t start, uint64_t size, uint64_t count,
		     uint64_t argument)
{
	mark->records = start;
	mark->record_size = size;
	mark->record_count = count;
	mark->argument = argument;
	return ins_spans_add(&mark->spans, start, start + size * count, IN_RECORDS, 0);
}

/* The number of the record at address, or record_count. */
static uint64_t record_number(const struct ins_mark *m, uint64_t address)
{
	if (!m->record_size || address < m->records)
		return m->record_count;
	address = (address - m->records) / m->record_size;
	return address < m->record_count ? address : m->record_count;
}

int ins_mark_fiber(struct ins_mark *mark, const struct ins_mark_fiber *fiber)
{
	if (mark->count == mark->room) {
		const size_t room = mark->room ? mark->room * 2 : 256;
		struct one *more = realloc(mark->fibers, room * sizeof *more);

		if (!more)
			return -ENOMEM;
		mark->fibers = more;
		mark->room = room;
	}
	mark->fibers[mark->count] = (struct one){.fiber = *fiber};
	if (fiber->stack_used < fiber->stack_low || fiber->stack_used > fiber->stack_end)
		mark->fibers[mark->count].fiber.stack_used = fiber->stack_low;
	return ins_spans_add(&mark->spans, fiber->stack_low, fiber->stack_end, IN_STACK,
			     (uint32_t)mark->count++);
}

/* -- targets -- */

static uint64_t page_bit(uint64_t address)
{
	return (address >> 12) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PAGE_BITS);
}

static bool page_has_target(const struct ins_mark *m, uint64_t address)
{
	const uint64_t bit = page_bit(address);

	return m->target_pages[bit / 64] >> bit % 64 & 1;
}

static int by_address(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->fiber < y->fiber ? -1 : x->fiber > y->fiber;
}

/* The fiber whose record has address, or NOBODY. There may be far more records than fibers. */
static uint32_t owner_of(const struct ins_mark *m, uint64_t address)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (m->by_record[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low && address - m->by_record[low - 1].address < m->record_size
		       ? m->by_record[low - 1].fiber
		       : NOBODY;
}

/* Whether an object can be judged: it is in memory that is followed, or on a stack. */
static bool can_be_lost(struct ins_mark *m, const struct ins_mark_fiber *f)
{
	const struct ins_span *s;

	if (f->alive)
		return false;
	if (record_number(m, f->object) < m->record_count)
		return owner_of(m, f->object) != NOBODY;
	s = f->object ? ins_spans_find(&m->spans, f->object) : NULL;
	return s && (s->kind == IN_AREA || s->kind == IN_STACK);
}

static int make_targets(struct ins_mark *m)
{
	size_t i;

	m->targets = malloc((m->count + 1) * sizeof *m->targets);
	m->by_record = malloc((m->count + 1) * sizeof *m->by_record);
	if (!m->targets || !m->by_record)
		return -ENOMEM;
	for (i = 0; i < m->count; i++)
		m->by_record[i] = (struct target){m->fibers[i].fiber.record, (uint32_t)i};
	qsort(m->by_record, m->count, sizeof *m->by_record, by_address);
	for (i = 0; i < m->count; i++) {
		struct ins_mark_fiber *f = &m->fibers[i].fiber;
		const uint64_t bit = page_bit(f->object);

		f->alive = !can_be_lost(m, f);
		if (f->alive)
			continue;
		m->targets[m->target_count++] = (struct target){f->object, (uint32_t)i};
		m->target_pages[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	qsort(m->targets, m->target_count, sizeof *m->targets, by_address);
	return 0;
}

/* -- marking -- */

static void push(struct ins_mark *m, uint64_t low, uint64_t high)
{
	if (add_range(&m->pending, low, high) < 0)
		m->error = -ENOMEM;
}

static void wake(struct ins_mark *m, uint32_t i);

/* All in [low, high) is alive: so are the fibers that wait for objects in it. */
static void reach(struct ins_mark *m, uint64_t low, uint64_t high)
{
	size_t first = 0, last = m->target_count;

	if (high - low <= 4096 && !page_has_target(m, low) && !page_has_target(m, high - 1))
		return;
	while (first < last) {
		const size_t mid = first + (last - first) / 2;

		if (m->targets[mid].address < low)
			first = mid + 1;
		else
			last = mid;
	}
	for (; first < m->target_count && m->targets[first].address < high; first++)
		wake(m, m->targets[first].fiber);
}

/* Recursion ends: only the first call for a fiber goes on, and the rest waits in `pending`. */
static void wake(struct ins_mark *m, uint32_t i)
{
	struct one *one = &m->fibers[i];
	const struct ins_span *s;

	if (one->alive)
		return;
	one->alive = true;
	/* Wrong records may have stacks that overlap: each byte is of one fiber. */
	s = ins_spans_find(&m->spans, one->fiber.stack_used);
	if (s && s->kind == IN_STACK && s->index == i)
		push(m, one->fiber.stack_used, s->end);
	if (one->fiber.record)
		push(m, one->fiber.record, one->fiber.record + m->record_size);
}

/*
 * Alive memory has a pointer into the middle of a record. It may be the first link, without a
 * previous one, of a list whose links are in records at the same offset: the members of a group. Who
 * has the list can cancel each of them.
 */
static void hold_list(struct ins_mark *m, uint64_t word)
{
	const uint64_t offset = (word - m->records) % m->record_size;
	uint32_t owner = owner_of(m, word);

	if (!offset || offset % 8 || offset + 16 > m->record_size ||
	    ins_windows_word(m->windows, word + 8))
		return;
	while (owner != NOBODY && (word - m->records) % m->record_size == offset &&
	       m->fibers[owner].in_list != offset) {
		m->fibers[owner].held = true;
		m->fibers[owner].in_list = (uint32_t)offset;
		word = ins_windows_word(m->windows, word);
		owner = owner_of(m, word);
	}
}

static void touch_record(struct ins_mark *m, uint64_t word, uint64_t at)
{
	const uint32_t i = owner_of(m, word);

	/* Of a record only the argument is the program's. */
	if (m->in_record && (!m->argument || (at - m->records) % m->record_size != m->argument))
		return;
	if (i == NOBODY)
		return;
	if (i == m->in_stack)
		return;
	m->fibers[i].held = true;
	if (!m->in_record)
		hold_list(m, word);
}

static void touch(struct ins_mark *m, uint64_t word, uint64_t at)
{
	struct ins_span *s = ins_spans_find(&m->spans, word);
	uint64_t low, high;

	if (!s || s->kind == IN_ROOT || s->kind == IN_DEAD)
		return;
	if (s->kind == IN_STACK) {
		/* libfiber's lists of stacks have their lowest address, where nothing is. */
		if (word >= m->fibers[s->index].fiber.stack_used)
			wake(m, s->index);
		return;
	}
	if (s->kind == IN_RECORDS) {
		touch_record(m, word, at);
		return;
	}
	if (!m->chunks[s->index]) {
		if (!s->marked)
			push(m, s->start, s->end);
		s->marked = true;
	} else if (m->again) {
		if (ins_chunks_mark_any(m->chunks[s->index], m->windows, word, &low, &high))
			push(m, low, high);
	} else if (ins_chunks_mark(m->chunks[s->index], m->windows, word, at, &low, &high)) {
		push(m, low, high);
	}
}

static void scan_words(struct ins_mark *m, uint64_t at, const unsigned char *bytes, size_t size)
{
	const uint64_t low = m->low, extent = m->high - m->low;
	uint64_t word;
	size_t i;

	for (i = 0; i + sizeof word <= size; i += sizeof word) {
		memcpy(&word, bytes + i, sizeof word);
		if (word - low < extent)
			touch(m, word, at + i);
	}
}

/* Memory in chunks is asked for in small pieces, and kept; the rest is read once. */
static void scan(struct ins_mark *m, uint64_t low, uint64_t high)
{
	const struct ins_span *s = ins_spans_find(&m->spans, low);
	const bool kept = s && !m->again &&
			  ((s->kind == IN_RECORDS && high - low <= m->record_size) ||
			   (s->kind == IN_AREA && m->chunks[s->index]));

	reach(m, low, high);
	m->in_record = s && s->kind == IN_RECORDS;
	m->in_stack = s && s->kind == IN_STACK ? s->index : NOBODY;
	low = (low + 7) & ~UINT64_C(7);
	while (low < high && high - low >= 8) {
		size_t size = high - low < BUFFER ? high - low : BUFFER;
		const uint64_t nothing =
			kept || high - low <= BUFFER
				? 0
				: ins_windows_nothing(m->windows, low, high - low) & ~UINT64_C(7);

		if (nothing) {
			low += nothing;
			continue;
		}

		if (kept) {
			size_t most;
			const unsigned char *bytes = ins_windows_at(m->windows, low, &most);

			size = size < most ? size : most;
			/* Marking may replace the window. */
			memcpy(m->buffer, bytes, size);
		} else {
			ins_windows_copy(m->windows, low, m->buffer, size);
		}
		scan_words(m, low, m->buffer, size);
		low += size;
	}
	m->in_record = false;
	m->in_stack = NOBODY;
}

static int drain(struct ins_mark *m)
{
	while (m->pending.count && !m->error) {
		const struct range r = m->pending.at[--m->pending.count];

		scan(m, r.low, r.high);
	}
	return m->error;
}

int ins_mark_all(struct ins_mark *mark)
{
	struct ins_mark *m = mark;
	size_t i;
	int rc = ins_spans_settle(&m->spans, KINDS);

	if (rc == 0)
		rc = make_targets(m);
	if (rc < 0 || !m->spans.count)
		return rc;
	m->low = m->spans.at[0].start;
	m->high = m->spans.at[m->spans.count - 1].end;
	for (i = 0; i < m->count; i++)
		if (m->fibers[i].fiber.alive)
			wake(m, (uint32_t)i);
	/* Without the records and stacks that lie in them. */
	for (i = 0; i < m->spans.count; i++)
		if (m->spans.at[i].kind == IN_ROOT)
			push(m, m->spans.at[i].start, m->spans.at[i].end);
	for (i = 0; i < m->words.count; i++)
		touch(m, m->words.at[i], 0);
	return drain(m);
}

int ins_mark_more_fiber(struct ins_mark *mark, size_t i)
{
	wake(mark, (uint32_t)i);
	return ins_mark_more_word(mark, mark->fibers[i].fiber.object);
}

void ins_mark_again(struct ins_mark *mark)
{
	size_t i;

	mark->again = true;
	ins_windows_forget(mark->windows);
	for (i = 0; i < mark->spans.count; i++)
		mark->spans.at[i].marked = false;
	for (i = 0; i < mark->areas; i++)
		if (mark->chunks[i])
			ins_chunks_unmark(mark->chunks[i]);
}

int ins_mark_more(struct ins_mark *mark, uint64_t start, uint64_t end)
{
	push(mark, start, end);
	return drain(mark);
}

int ins_mark_more_record(struct ins_mark *mark, uint64_t address, const void *bytes)
{
	reach(mark, address, address + mark->record_size);
	mark->in_record = true;
	scan_words(mark, address, bytes, mark->record_size & ~UINT64_C(7));
	mark->in_record = false;
	return drain(mark);
}

int ins_mark_more_word(struct ins_mark *mark, uint64_t word)
{
	if (word - mark->low < mark->high - mark->low)
		touch(mark, word, 0);
	return drain(mark);
}

bool ins_mark_alive(const struct ins_mark *mark, size_t i)
{
	return mark->fibers[i].alive;
}

bool ins_mark_held(const struct ins_mark *mark, size_t i)
{
	return mark->fibers[i].held;
}
