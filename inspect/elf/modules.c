/* SPDX-License-Identifier: MIT */
/*
 * modules.c - the list of mapped files
 *
 * Mappings come in ascending order. A module's mappings follow each other, with anonymous ones
 * (bss) between them. A mapping at file offset 0 starts a module; a later mapping of the same path
 * belongs to it. Whether there is an ELF header is checked only when the module is needed.
 */
#include "inspect/elf/modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inspect/elf/debug.h"

#define MODULES_MAX (1u << 16)
#define LINE_MAX_   8192 /* a maps line: numbers and an escaped path */

int ins_modules_new(pid_t pid, fib_read_fn *read, void *reader, struct ins_problems *problems,
		    struct ins_modules **ret)
{
	struct ins_modules *m = calloc(1, sizeof *m);

	if (!m)
		return -ENOMEM;
	m->pid = pid;
	m->machine.number = (uint16_t)ins_machine_self();
	m->read = read;
	m->reader = reader;
	m->problems = problems;
	m->vdso = -1;
	*ret = m;
	return 0;
}

void ins_modules_free(struct ins_modules *modules)
{
	size_t i;

	if (!modules)
		return;
	ins_debug_free(modules);
	for (i = 0; i < modules->count; i++) {
		struct ins_module *m = &modules->at[i];

		if (m->bytes)
			munmap((void *)m->bytes, m->bytes_size);
		free(m->path);
		free(m->file);
	}
	if (modules->vdso >= 0)
		close(modules->vdso);
	free(modules->at);
	free(modules);
}

/* Change "x (deleted)" to "x" and return true. */
static bool strip_deleted(char *path)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(path);

	if (n < sizeof mark || strcmp(path + n - (sizeof mark - 1), mark) != 0)
		return false;
	path[n - (sizeof mark - 1)] = 0;
	return true;
}

int ins_modules_add(struct ins_modules *modules, uint64_t start, uint64_t end, uint64_t offset,
		    uint64_t inode, const char *path)
{
	struct ins_module *last = modules->count ? &modules->at[modules->count - 1] : NULL;
	char *copy;
	bool deleted;

	if (end <= start)
		return 0;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	deleted = strip_deleted(copy);
	if (offset != 0) {
		if (last && strcmp(last->path, copy) == 0 && last->inode == inode &&
		    start >= last->end)
			last->end = end;
		free(copy);
		return 0;
	}
	if (modules->count == MODULES_MAX) {
		free(copy);
		return 0;
	}
	if ((modules->count & (modules->count - 1)) == 0) {
		size_t room = modules->count ? modules->count * 2 : 1;
		struct ins_module *at = realloc(modules->at, room * sizeof *at);

		if (!at) {
			free(copy);
			return -ENOMEM;
		}
		modules->at = at;
	}
	last = &modules->at[modules->count++];
	memset(last, 0, sizeof *last);
	last->start = start;
	last->first_end = end;
	last->end = end;
	last->inode = inode;
	last->path = copy;
	last->deleted = deleted;
	return 0;
}

/* The kernel writes newlines in paths as \012. */
static void unescape(char *path)
{
	char *from = path, *to = path;

	while (*from) {
		if (strncmp(from, "\\012", 4) == 0) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = 0;
}

/* "start-end perms offset dev inode   path" */
static int parse_line(struct ins_modules *modules, char *line)
{
	uint64_t start, end, offset, inode;
	char *at, *path;

	start = strtoull(line, &at, 16);
	if (at == line || *at != '-')
		return 0;
	end = strtoull(at + 1, &at, 16);
	if (*at != ' ' || strlen(at) < 6 || at[5] != ' ')
		return 0;
	offset = strtoull(at + 6, &at, 16);
	if (*at != ' ')
		return 0;
	at = strchr(at + 1, ' '); /* skip the device */
	if (!at)
		return 0;
	inode = strtoull(at + 1, &at, 10);
	path = at + strspn(at, " ");
	if (*path != '/' && strcmp(path, "[vdso]") != 0)
		return 0;
	unescape(path);
	return ins_modules_add(modules, start, end, offset, inode, path);
}

int ins_modules_parse_maps(struct ins_modules *modules, const char *text, size_t size)
{
	const char *at = text, *end = text + size;
	char line[LINE_MAX_];
	int rc;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((newline ? newline : end) - at);

		if (n < sizeof line && !memchr(at, 0, n)) {
			memcpy(line, at, n);
			line[n] = 0;
			rc = parse_line(modules, line);
			if (rc < 0)
				return rc;
		}
		at += n + 1;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct ins_module *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void ins_modules_sort(struct ins_modules *modules)
{
	if (modules->count)
		qsort(modules->at, modules->count, sizeof *modules->at, by_start);
}

int ins_modules_place(struct ins_modules *modules, uint64_t phdr, const char *path)
{
	const uint64_t span = ins_modules_file_span(path);
	int rc;

	if (!span || phdr < sizeof(Elf64_Ehdr))
		return 0;
	/* Every linker puts the program headers behind the ELF header. */
	phdr -= sizeof(Elf64_Ehdr);
	/* ins_modules_give() gives it the file, so nothing is searched for. */
	rc = ins_modules_add(modules, phdr, phdr + span, 0, 0, "");
	ins_modules_sort(modules);
	return rc;
}

size_t ins_modules_below(const struct ins_modules *modules, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (modules->at[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct ins_module *ins_modules_find(struct ins_modules *modules, uint64_t address)
{
	const size_t below = ins_modules_below(modules, modules->count, address);
	struct ins_module *m = below ? &modules->at[below - 1] : NULL;

	if (!m || address >= m->end)
		return NULL;
	ins_modules_look(modules, m);
	if (m->unsure) {
		m->unsure = false;
		ins_problems_add(modules->problems,
				 "%s: assumed to be the file that ran: no build-id confirms it",
				 m->path);
	}
	return m;
}

int ins_modules_read(struct ins_modules *modules, uint64_t address, void *buf, size_t size,
		     bool writable)
{
	struct ins_module *m = ins_modules_find(modules, address);
	unsigned i;

	if (!m || !m->bytes)
		return -EFAULT;
	for (i = 0; i < m->file_image.segments; i++) {
		const Elf64_Phdr *ph = &m->file_image.segment[i];
		uint64_t into = address - m->bias - ph->p_vaddr;

		if (ph->p_type != PT_LOAD || into >= ph->p_filesz || size > ph->p_filesz - into)
			continue;
		if ((ph->p_flags & PF_W) && !writable)
			continue;
		if (ph->p_offset > m->bytes_size || into > m->bytes_size - ph->p_offset ||
		    size > m->bytes_size - ph->p_offset - into)
			return -EFAULT;
		memcpy(buf, m->bytes + ph->p_offset + into, size);
		return 0;
	}
	return -EFAULT;
}
