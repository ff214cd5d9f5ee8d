/* SPDX-License-Identifier: MIT */
/*
 * present.c - find which memory of a live process exists
 *
 * The mappings are read once for each read of the source. Nearly all reads are of private anonymous
 * memory between the program's files. The ranges of such memory are cached, so that a check is a
 * comparison. Other ranges are looked up in /proc/PID/pagemap, and existing pages are remembered.
 *
 * The program may map and unmap meanwhile. If a range was unmapped, the read fails or returns the
 * new contents. A program that turns private memory into shared memory meanwhile makes only itself
 * larger.
 *
 * The page table of a process does not show shared pages that only another process has touched. So
 * a few such pages are read, within an allowance. A process writes its records itself, so records
 * are not looked for in such pages.
 */
#include "inspect/process/present.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/process/permission.h"
#include "inspect/text/member.h"

#define PAGE  4096u
#define FIRST 256 /* pages looked up at first: a piece of records */
#define MOST  (sizeof(((struct ins_present *)0)->entry) / 8)

static bool exists(uint64_t entry)
{
	return entry >> 62; /* present or swapped */
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
	p->pid = pid = ins_member(pid);
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
	/* Without pagemap all these pages count as absent: allow as many as the process has. */
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
	take_maps(present, text); /* without memory the old mappings stay */
	fclose(text);
}

/* The index of the first mapping that ends above address. */
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

/* The mapping that has address. NULL: none, and *ret_end is the start of the next mapping. */
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

/*
 * Read the entries of the pages from address to end, at most n, into p->entry. Returns their
 * number; 0: they cannot be read.
 */
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

/* How many of the bytes [at, end) of one mapping are in absent pages. */
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

/* Cache the range around address in which reads never allocate memory. */
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

/* The slot that remembers whether this page exists. */
static uint64_t *known(struct ins_present *p, uint64_t page)
{
	return &p->known[page % (sizeof p->known / sizeof p->known[0])];
}

/*
 * How much of the allowance a read of [at, end) takes; the range is in one mapping that is not free
 * to read.
 */
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

/*
 * The end of the pages that are like the page of address, at most end; address: it cannot be told.
 */
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
	if (m->shared && !*ret_there && !present->sparse) {
		present->untouched += next - address;
		if (present->untouched > INS_PRESENT_UNTOUCHED)
			return 0;
	}
	return next - address;
}

/* "VmRSS:   1234 kB"; 0: no such line. */
static uint64_t kilobytes(pid_t pid, const char *key)
{
	char text[64];

	if (ins_permission_status(pid, key, text, sizeof text) < 0)
		return 0;
	return strtoull(text, NULL, 10) << 10;
}

uint64_t ins_present_held(pid_t pid)
{
	uint64_t resident;

	pid = ins_member(pid);
	resident = kilobytes(pid, "VmRSS");

	if (!resident)
		return UINT64_MAX;
	return resident + kilobytes(pid, "VmSwap") + kilobytes(pid, "HugetlbPages");
}

uint64_t ins_present_mapped(pid_t pid)
{
	const uint64_t size = kilobytes(ins_member(pid), "VmSize");

	return size ? size : UINT64_MAX;
}
