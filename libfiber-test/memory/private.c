/* SPDX-License-Identifier: MIT */
/* private.c - a hash table of addresses, open addressing */
#include "memory/private.h"

#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/check.h"
#include "base/compiler.h"

#define ENTRIES	 (1u << 20)
#define FULL	 (ENTRIES / 4 * 3)
#define SEGMENTS 256u
#define SHARED	 1u /* in the entry of a variable; otherwise it is private */

struct segment {
	uintptr_t low, high;
};

struct table {
	uint32_t count;
	_Atomic bool contradicted;
	uint64_t at[ENTRIES]; /* 8-byte unit << 1 | SHARED; 0: free */
};

static struct {
	struct table *table; /* NULL: nothing is known */
	bool learning;
	struct segment data[SEGMENTS], threads[SEGMENTS];
	unsigned ndata, nthreads;
} private;

static void add(struct segment *to, unsigned *n, uintptr_t low, size_t size)
{
	if (*n < SEGMENTS && size)
		to[(*n)++] = (struct segment){low, low + size};
}

static int add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned i;

	(void)size;
	(void)arg;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_W)
			add(private.data, &private.ndata, info->dlpi_addr + p->p_vaddr, p->p_memsz);
		if (p->p_type == PT_TLS && info->dlpi_tls_data)
			add(private.threads, &private.nthreads, (uintptr_t)info->dlpi_tls_data,
			    p->p_memsz);
	}
	return 0;
}

static bool within(const struct segment *s, unsigned n, uintptr_t at)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (at - s[i].low < s[i].high - s[i].low)
			return true;
	return false;
}

bool fib_private_of_thread(uintptr_t at)
{
	return within(private.threads, private.nthreads, at);
}

void fib_private_learn_begin(void)
{
	if (private.table)
		munmap(private.table, sizeof *private.table);
	private.table = mmap(NULL, sizeof *private.table, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	private.table = private.table == MAP_FAILED ? NULL : private.table;
	private.ndata = private.nthreads = 0;
	dl_iterate_phdr(add_module, NULL);
	private.learning = true;
}

void fib_private_learn_end(void)
{
	private.learning = false;
}

bool fib_private_learning(void)
{
	return private.learning;
}

/* The entry of a variable, or a free one. */
static uint64_t *find(uintptr_t at)
{
	const uint64_t unit = at >> 3;
	uint64_t i = unit * UINT64_C(0x9e3779b97f4a7c15) >> 44;

	while (private.table->at[i] && private.table->at[i] >> 1 != unit)
		i = (i + 1) % ENTRIES;
	return &private.table->at[i];
}

void fib_private_note(uintptr_t at, bool first)
{
	uint64_t *entry;

	if (!private.table || !within(private.data, private.ndata, at))
		return;
	entry = find(at);
	if (!*entry && private.table->count++ >= FULL)
		return; /* what is not known is shared */
	*entry = at >> 3 << 1 | (first ? 0 : SHARED);
}

bool fib_private_has(uintptr_t at)
{
	return private.table && *find(at) == at >> 3 << 1 && at >> 3;
}

void fib_private_contradict(uintptr_t at)
{
	if (fib_private_has(at))
	private.table->contradicted = true;
}

bool fib_private_contradicted(void)
{
	return private.table && private.table->contradicted;
}
