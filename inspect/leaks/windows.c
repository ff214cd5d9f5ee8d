/* SPDX-License-Identifier: MIT */
/*
 * windows.c - a copy of the parts of a process' memory that were asked for
 *
 * Pointers lead to all parts of a heap in no order. One system call for each object would take a
 * minute for a large heap, so memory is copied in windows, and windows are kept. Each window has one
 * slot where it can be, so a lookup is one comparison. There are as many slots as the machine can
 * spare; a heap that fits is copied once.
 *
 * Pages that the process never wrote are not read: that would make the process larger.
 */
#include "inspect/leaks/windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	   4096u
#define SMALL	   16384u /* read without asking which pages exist */
#define MOST	   (UINT64_C(4) << 30)
#define LEAST	   (UINT64_C(64) << 20)
#define NO_ADDRESS UINT64_MAX

struct ins_windows {
	const struct ins_memory_reader *memory;
	unsigned char *bytes; /* of all slots; untouched ones take no memory */
	uint64_t *held;	      /* by slot: the address of its window, NO_ADDRESS: none */
	size_t slots;
	uint64_t last; /* the address of the window that was asked for last */
	const unsigned char *last_bytes;
	uint64_t copied;
};

/* Half of the memory that is free. */
static uint64_t spare(void)
{
	const long pages = sysconf(_SC_AVPHYS_PAGES);
	const uint64_t half = pages > 0 ? (uint64_t)pages * PAGE / 2 : 0;

	if (half < LEAST)
		return LEAST;
	return half < MOST ? half : MOST;
}

int ins_windows_new(const struct ins_memory_reader *memory, uint64_t most, struct ins_windows **ret)
{
	struct ins_windows *w = calloc(1, sizeof *w);

	*ret = NULL;
	if (!w)
		return -ENOMEM;
	w->memory = memory;
	w->slots = (most ? most : spare()) / INS_WINDOW;
	w->slots = w->slots ? w->slots : 1;
	w->held = malloc(w->slots * sizeof *w->held);
	w->bytes = mmap(NULL, w->slots * INS_WINDOW, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!w->held || w->bytes == MAP_FAILED) {
		if (w->bytes == MAP_FAILED)
			w->bytes = NULL;
		ins_windows_free(w);
		return -ENOMEM;
	}
	ins_windows_forget(w);
	*ret = w;
	return 0;
}

void ins_windows_free(struct ins_windows *windows)
{
	if (!windows)
		return;
	if (windows->bytes)
		munmap(windows->bytes, windows->slots * INS_WINDOW);
	free(windows->held);
	free(windows);
}

void ins_windows_forget(struct ins_windows *windows)
{
	size_t i;

	for (i = 0; i < windows->slots; i++)
		windows->held[i] = NO_ADDRESS;
	windows->last = NO_ADDRESS;
	windows->copied = 0;
}

static void tell_failed(const struct ins_windows *w, uint64_t address)
{
	if (w->memory->failed)
		w->memory->failed(w->memory->reader, address);
}

/* Read a run of memory; if it cannot be read as a whole, page by page. */
static void read_run(struct ins_windows *w, uint64_t address, unsigned char *buf, size_t size)
{
	size_t done, n;

	w->copied += size;
	if (w->memory->read(w->memory->reader, address, buf, size) == 0)
		return;
	for (done = 0; done < size; done += n) {
		n = PAGE - (address + done) % PAGE;
		n = n < size - done ? n : size - done;
		if (w->memory->read(w->memory->reader, address + done, buf + done, n) == 0)
			continue;
		memset(buf + done, 0, n);
		tell_failed(w, address + done);
	}
}

void ins_windows_copy(struct ins_windows *windows, uint64_t address, void *buf, size_t size)
{
	const struct ins_memory_reader *m = windows->memory;
	unsigned char *to = buf;
	size_t done = 0;

	while (done < size) {
		bool there = true;
		uint64_t run = size - done;

		if (m->run && size > SMALL)
			run = m->run(m->reader, address + done, size - done, &there);
		if (!run || run > size - done) {
			tell_failed(windows, address + done);
			run = size - done;
			there = false;
		}
		if (there)
			read_run(windows, address + done, to + done, run);
		else
			memset(to + done, 0, run);
		done += run;
	}
}

uint64_t ins_windows_nothing(struct ins_windows *windows, uint64_t address, uint64_t size)
{
	const struct ins_memory_reader *m = windows->memory;
	bool there = true;
	uint64_t run;

	if (!m->run)
		return 0;
	run = m->run(m->reader, address, size, &there);
	/* 0: far more was never written than can be looked up. */
	if (!run || run > size) {
		tell_failed(windows, address);
		return size;
	}
	return there ? 0 : run;
}

const unsigned char *ins_windows_at(struct ins_windows *windows, uint64_t address, size_t *ret_size)
{
	const uint64_t window = address & ~(INS_WINDOW - 1), into = address - window;
	const size_t slot = window / INS_WINDOW % windows->slots;
	unsigned char *bytes = windows->bytes + slot * INS_WINDOW;

	*ret_size = INS_WINDOW - into;
	if (windows->last == window)
		return windows->last_bytes + into;
	if (windows->held[slot] != window) {
		ins_windows_copy(windows, window, bytes, INS_WINDOW);
		windows->held[slot] = window;
	}
	windows->last = window;
	windows->last_bytes = bytes;
	return bytes + into;
}

uint64_t ins_windows_word(struct ins_windows *windows, uint64_t address)
{
	uint64_t word;
	size_t size;

	memcpy(&word, ins_windows_at(windows, address & ~UINT64_C(7), &size), sizeof word);
	return word;
}

uint64_t ins_windows_bytes(const struct ins_windows *windows)
{
	return windows->copied;
}
