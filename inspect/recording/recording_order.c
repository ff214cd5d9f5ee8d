/* SPDX-License-Identifier: MIT */
/*
 * recording_order.c - convert a recording from the other byte order
 *
 * Tables say where the numbers are. A new member of a struct in recording_format.h or event.h gets an entry,
 * and a new type of section a line in elements[]. A section has a head and then elements; texts have a length
 * of their own.
 */
#include "inspect/recording/recording_order.h"

#include <string.h>

#include "inspect/elf/machine.h"
#include "layout/event.h"
#include "layout/recording_format.h"

static const struct ins_run head[] = {
	INS_RUN_TEXT(fib_recording_head, magic),
	{4, 4}, /* version to ring_events */
	{3, 8}, /* wall to ended */
	{0},
};
static const struct ins_run part[] = {{2, 4}, {1, 8}, {0}};
static const struct ins_run clock_runs[] = {{2, 8}, {0}};
static const struct ins_run events[] = {{1, 8}, {2, 4}, {1, 8}, {0}};
static const struct ins_run event[] = {{3, 8}, {4, 1}, {1, 4}, {0}};
/* Of a name: time and object are text. */
static const struct ins_run event_name[] = {{8, 1}, {1, 8}, {8, 1}, {4, 1}, {1, 4}, {0}};
static const struct ins_run fiber[] = {{7, 8}, {2, 1}, {1, 2}, {1, 4}, {0}};
static const struct ins_run sample[] = {{7, 8}, {0}};
static const struct ins_run look[] = {{5, 8}, {0}};
static const struct ins_run text[] = {{1, 8}, {2, 4}, {0}};

/* The sections that consist of equal elements. */
static const struct {
	uint32_t type;
	uint32_t size;
	const struct ins_run *runs;
} elements[] = {
	{FIB_RECORDING_CLOCKS, sizeof(struct fib_recording_clock), clock_runs},
	{FIB_RECORDING_FIBERS, sizeof(struct fib_recording_fiber), fiber},
	{FIB_RECORDING_LAST, sizeof(struct fib_recording_fiber), fiber},
	{FIB_RECORDING_SAMPLES, sizeof(struct fib_recording_sample), sample},
	{FIB_RECORDING_LOOKS, sizeof(struct fib_recording_look), look},
};

static void convert_events(unsigned char *at, size_t size)
{
	struct fib_event e;
	size_t done;

	ins_swap_runs(at, size, events);
	for (done = sizeof(struct fib_recording_events); size >= done + sizeof e;
	     done += sizeof e) {
		memcpy(&e, at + done, sizeof e);
		ins_swap_runs(at + done, sizeof e, e.type == FIB_EVENT_NAME ? event_name : event);
	}
}

static void convert_texts(unsigned char *at, size_t size)
{
	struct fib_recording_text t;

	while (size >= sizeof t) {
		ins_swap_runs(at, sizeof t, text);
		memcpy(&t, at, sizeof t);
		at += sizeof t;
		size -= sizeof t;
		if (t.size > size)
			return;
		at += t.size;
		size -= t.size;
	}
}

static bool has_texts(uint32_t type)
{
	return type == FIB_RECORDING_PLACES || type == FIB_RECORDING_STACKS ||
	       type == FIB_RECORDING_WORDS || type == FIB_RECORDING_OBJECTS ||
	       type == FIB_RECORDING_SHAPES;
}

static void convert_part(uint32_t type, unsigned char *at, size_t size)
{
	size_t i, done;

	if (type == FIB_RECORDING_EVENTS)
		convert_events(at, size);
	if (has_texts(type))
		convert_texts(at, size);
	for (i = 0; i < sizeof elements / sizeof elements[0]; i++)
		for (done = 0; elements[i].type == type && size - done >= elements[i].size;
		     done += elements[i].size)
			ins_swap_runs(at + done, elements[i].size, elements[i].runs);
}

bool ins_recording_order_other(const void *bytes, size_t size)
{
	struct fib_recording_head h;

	if (size < sizeof h)
		return false;
	memcpy(&h, bytes, sizeof h);
	return memcmp(h.magic, FIB_RECORDING_MAGIC, sizeof h.magic) == 0 &&
	       h.order == __builtin_bswap32(FIB_RECORDING_ORDER);
}

void ins_recording_order_convert(void *bytes, size_t size)
{
	unsigned char *at = bytes;
	struct fib_recording_part p;

	ins_swap_runs(at, sizeof(struct fib_recording_head), head);
	at += sizeof(struct fib_recording_head);
	size -= sizeof(struct fib_recording_head);
	while (size >= sizeof p) {
		ins_swap_runs(at, sizeof p, part);
		memcpy(&p, at, sizeof p);
		at += sizeof p;
		size -= sizeof p;
		if (p.size > size)
			return;
		convert_part(p.type, at, p.size);
		at += p.size;
		size -= p.size;
	}
}
