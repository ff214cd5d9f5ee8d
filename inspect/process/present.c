/* SPDX-License-Identifier: MIT */
/*
 * present.c - which memory of a live process exists
 *
 * What is mapped is read once for each read of the source. Nearly all that is read of a program's fibers is private anonymous
 * memory between the program's files: such ranges are kept, so that a check is a comparison. /proc/PID/pagemap is
 * asked about the rest, and pages that exist are remembered. A program may map and unmap meanwhile: where nothing was mapped
 * the read itself fails, or reads what is new. A program that makes private memory shared behind our back only makes
 * itself larger.
 *
 * The page table does not say of shared memory whether a page exists that this process has not touched, such as one
 * that another process wrote: so single ones are read as far as the allowance goes. A process writes its records
 * itself, so those are not looked for in such pages.
 */
#include "inspect/process/present.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/process/permission.h"

#define PAGE  4096u
#define FIRST 256 /* pages asked about at first: a piece of records */
#define MOST  (sizeof(((struct ins_present *)0)->entry) / 8)

static bool exists(uint64_t entry)
{
	return entry >> 62; /* present, or swapped */
}

static int take_maps(struct ins_present *p, FILE *text)
{
	struct ins_mappings before = p->mappings;
	int rc;

	memset(&p->mappings, 0, sizeof p->mappings);
	rc = ins_mappings_parse(text, &p->mappings);
	if (rc < 0) {
		ins_mappings_free(&p->mappings);
		p->mappings = before;
		return rc;
	}
	ins_mappings_free(&before);
	p->last = 0;
	memset(p->free, 0, sizeof p->free);
	memset(p->known, 0, sizeof p->known);
	return 0;
}

int ins_present_new(pid_t pid, const char *maps, size_t size, struct ins_present **ret)
{
	struct ins_present *p = calloc(1, sizeof *p);
	char path[64];
	uint64_t held;
	FILE *text = NULL;
	int rc = -ENOMEM;

	*ret = NULL;
	if (!p)
		return rc;
	p->pid = pid;
	if (size)
		text = fmemopen((void *)maps, size, "r");
	if (text) {
		rc = take_maps(p, text);
		fclose(text);
	}
	if (rc < 0 && size) {
		free(p);
		return rc;
	}
	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
	p->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	/* Without it every page of those counts, and there are no more than the process has. */
	held = ins_present_held(pid);
	p->left = INS_PRESENT_ALLOWANCE;
	if (p->pagemap < 0 && held != UINT64_MAX)
		p->left += held;
	*ret = p;
	return 0;
}

void ins_present_free(struct ins_present *present)
{
	if (!present)
		return;
	if (present->pagemap >= 0)
		close(present->pagemap);
	ins_mappings_free(&present->mappings);
	free(present);
}

void ins_present_renew(struct ins_present *present)
{
	char path[64];
	FILE *text;

	present->untouched = 0;
	if (!present->read) {
		present->read = true;
		return;
	}
	snprintf(path, sizeof path, "/proc/%d/maps", (int)present->pid);
	text = fopen(path, "re");
	if (!text)
		return;
	take_maps(present, text); /* without memory the old ones stay */
	fclose(text);
}

/* The index of the first mapping that ends behind address. */
static size_t search(const struct ins_present *p, uint64_t address)
{
	size_t low = 0, high = p->mappings.count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->mappings.at[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_in(const struct ins_present *p, size_t i, uint64_t address)
{
	return i < p->mappings.count && address >= p->mappings.at[i].start &&
	       address < p->mappings.at[i].end;
}

/* The mapping that address is in; NULL: none, and *ret_end is where the next one begins. */
static const struct ins_mapping *find(struct ins_present *p, uint64_t address, uint64_t *ret_end)
{
	size_t i = p->last;

	if (!is_in(p, i, address)) {
		i = search(p, address);
	}
	if (!is_in(p, i, address)) {
		*ret_end = i < p->mappings.count ? p->mappings.at[i].start : UINT64_MAX;
		return NULL;
	}
	p->last = i;
	*ret_end = p->mappings.at[i].end;
	return &p->mappings.at[i];
}

/* Into p->entry: those of the pages from address on, at most n and no more than to end. How many; 0: cannot be had. */
static size_t ask(struct ins_present *p, uint64_t address, uint64_t end, size_t n)
{
	const uint64_t first = address / PAGE, pages = (end - 1) / PAGE - first + 1;
	ssize_t got;

	if (p->pagemap < 0)
		return 0;
	n = pages < n ? pages : n;
	got = pread(p->pagemap, p->entry, n * 8, (off_t)(first * 8));
	return got > 0 ? (size_t)got / 8 : 0;
}

/* Of the bytes [at, end) of one mapping, those whose page is absent. */
static uint64_t count_absent(struct ins_present *p, uint64_t at, uint64_t end)
{
	uint64_t absent = 0;
	size_t i, n;

	for (; at < end; at += n * PAGE) {
		n = ask(p, at, end, MOST);
		if (!n)
			return absent + (end - at);
		for (i = 0; i < n; i++)
			absent += exists(p->entry[i]) ? 0 : PAGE;
	}
	return absent;
}

static bool is_harmless(const struct ins_mapping *m)
{
	return !m->shared && !m->inode;
}

/* Keep the range around address in which no read can cost anything. */
static void keep_free(struct ins_present *p, uint64_t address)
{
	const size_t i = search(p, address), count = p->mappings.count;
	size_t low = i, high = i;

	if (is_in(p, i, address) && !is_harmless(&p->mappings.at[i]))
		return;
	while (low > 0 && is_harmless(&p->mappings.at[low - 1]))
		low--;
	while (high < count && is_harmless(&p->mappings.at[high]))
		high++;
	p->free[p->turn].low = low > 0 ? p->mappings.at[low - 1].end : 0;
	p->free[p->turn].high = high < count ? p->mappings.at[high].start : UINT64_MAX;
	p->turn = (p->turn + 1) % 4;
}

static bool is_free(const struct ins_present *p, uint64_t address, uint64_t end)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		if (address >= p->free[i].low && end <= p->free[i].high && end >= address)
			return true;
	return false;
}

/* Where a page is remembered that exists. */
static uint64_t *known(struct ins_present *p, uint64_t page)
{
	return &p->known[page % (sizeof p->known / sizeof p->known[0])];
}

/* What reading [at, end) of one mapping that is not harmless takes of the allowance. */
static uint64_t cost(struct ins_present *p, uint64_t at, uint64_t end)
{
	const uint64_t absent = count_absent(p, at, end);

	if (!absent)
		*known(p, at / PAGE) = at / PAGE;
	return absent;
}

int ins_present_spend(struct ins_present *present, uint64_t address, size_t size)
{
	const uint64_t end = address + size, page = address / PAGE;
	uint64_t at, next, absent;

	if (is_free(present, address, end))
		return 0;
	if (page && (end - 1) / PAGE == page && *known(present, page) == page)
		return 0;
	keep_free(present, address);
	for (at = address; at < end; at = next) {
		const struct ins_mapping *m = find(present, at, &next);

		next = next < end ? next : end;
		if (!m || is_harmless(m) || (!m->shared && !present->files))
			continue;
		absent = cost(present, at, next);
		if (absent > present->left)
			return -EDQUOT;
		present->left -= absent;
	}
	return 0;
}

/* The end of what is like the page of address, at most end; address: cannot be told. */
static uint64_t end_of_run(struct ins_present *p, uint64_t address, uint64_t end, bool *ret_there)
{
	uint64_t at = address, want = FIRST;
	size_t i, n;

	for (; at < end; at = (at / PAGE + n) * PAGE, want = MOST) {
		n = ask(p, at, end, want);
		if (!n)
			return at;
		if (at == address)
			*ret_there = exists(p->entry[0]);
		for (i = 0; i < n; i++)
			if (exists(p->entry[i]) != *ret_there)
				return (at / PAGE + i) * PAGE;
	}
	return end;
}

uint64_t ins_present_run(struct ins_present *present, uint64_t address, uint64_t size,
			 bool *ret_there)
{
	uint64_t end, next;
	const struct ins_mapping *m = find(present, address, &end);

	*ret_there = true;
	if (!m)
		return size;
	end = end - address < size ? end : address + size;
	if (m->shared && end - address > INS_PRESENT_UNTOUCHED + PAGE)
		end = address + INS_PRESENT_UNTOUCHED + PAGE;
	next = end_of_run(present, address, end, ret_there);
	if (next == address) {
		*ret_there = true;
		next = end;
	}
	if (m->shared && !*ret_there) {
		present->untouched += next - address;
		if (present->untouched > INS_PRESENT_UNTOUCHED)
			return 0;
	}
	return next - address;
}

/* "VmRSS:   1234 kB"; 0: there is no such line. */
static uint64_t kilobytes(pid_t pid, const char *key)
{
	char text[64];

	if (ins_permission_status(pid, key, text, sizeof text) < 0)
		return 0;
	return strtoull(text, NULL, 10) << 10;
}

uint64_t ins_present_held(pid_t pid)
{
	const uint64_t resident = kilobytes(pid, "VmRSS");

	if (!resident)
		return UINT64_MAX;
	return resident + kilobytes(pid, "VmSwap") + kilobytes(pid, "HugetlbPages");
}

uint64_t ins_present_mapped(pid_t pid)
{
	const uint64_t size = kilobytes(pid, "VmSize");

	return size ? size : UINT64_MAX;
}
