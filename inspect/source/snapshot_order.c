/* SPDX-License-Identifier: MIT */
/*
 * snapshot_order.c - convert a snapshot from the other byte order
 *
 * The copy is in a file in memory (memfd_create(2)) and not in private pages, because what reads a snapshot
 * releases pages and expects to find them again.
 *
 * Tables say where the numbers are. A new member of a struct in snapshot.h gets an entry.
 */
#include "inspect/source/snapshot_order.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inspect/source/frame_order.h"
#include "inspect/source/snapshot.h"
#include "inspect/source/snapshot_sums.h"

static const struct ins_run head_runs[] = {
	INS_RUN_TEXT(ins_snapshot_head, magic),
	{2, 4}, /* version, head_size */
	{3, 8}, /* size to now */
	{2, 4}, /* pid, machine */
	INS_RUN_TEXT(ins_snapshot_head, name),
	INS_RUN_TEXT(ins_snapshot_head, host),
	{2, 4}, /* threads, flags */
	{0},
};
static const struct ins_run section_runs[] = {{2, 4}, {1, 8}, {0}};
static const struct ins_run file_runs[] = {{2, 8}, {2, 2}, {3, 4}, {0}};

bool ins_snapshot_order_other(const void *bytes, size_t size)
{
	struct ins_snapshot_head h;

	if (size < offsetof(struct ins_snapshot_head, host))
		return false;
	memcpy(&h, bytes, offsetof(struct ins_snapshot_head, host));
	return memcmp(h.magic, INS_SNAPSHOT_MAGIC, sizeof h.magic) == 0 &&
	       h.version == __builtin_bswap32(INS_SNAPSHOT_VERSION);
}

static void convert_files(unsigned char *at, size_t size)
{
	struct ins_snapshot_file file;
	uint32_t i;

	while (size >= sizeof file) {
		ins_swap_runs(at, sizeof file, file_runs);
		memcpy(&file, at, sizeof file);
		at += sizeof file;
		size -= sizeof file;
		for (i = 0; i < file.segments && size >= sizeof(Elf64_Phdr); i++) {
			ins_swap_members(at, INS_SWAP_PHDR);
			at += sizeof(Elf64_Phdr);
			size -= sizeof(Elf64_Phdr);
		}
	}
}

/* The checksums of the parts so far, before and after their conversion. */
struct sums {
	struct ins_snapshot_sums before, after;
};

/* The number after the conversion: right if it was right before. */
static void renew(unsigned char *at, uint32_t before, uint32_t after)
{
	uint32_t number;

	ins_swap(at, sizeof number);
	memcpy(&number, at, sizeof number);
	number = number == before ? after : ~after;
	memcpy(at, &number, sizeof number);
}

static void convert_sums(const struct sums *sums, unsigned char *at, size_t size)
{
	const size_t each = sizeof sums->before.at[0];
	const size_t count =
		size / each ? size / each - 1 : 0; /* the last one is that of the others */
	const uint32_t before = ins_snapshot_sum(0, at, count * each);
	size_t i;

	if (size % each || count != sums->before.count)
		return;
	for (i = 0; i < count; i++)
		renew(at + i * each, sums->before.at[i], sums->after.at[i]);
	renew(at + count * each, before, ins_snapshot_sum(0, at, count * each));
}

static void convert_contents(const struct sums *sums, uint32_t type, unsigned char *at, size_t size)
{
	switch (type) {
	case INS_SNAPSHOT_FILES:
		convert_files(at, size);
		break;
	case INS_SNAPSHOT_VDSO:
		break;
	case INS_SNAPSHOT_SUMS:
		convert_sums(sums, at, size);
		break;
	default:
		ins_frame_order_convert(at, size);
	}
}

/* As snapshot.h says: of the contents, followed by the section. */
static uint32_t sum_of(const unsigned char *section, const unsigned char *contents, size_t size)
{
	const uint32_t sum = ins_snapshot_sum_pages(0, contents, size);

	return ins_snapshot_sum(sum, section, sizeof(struct ins_snapshot_section));
}

/* Convert the section at `at`. Returns its size, or 0: there is no whole section. */
static size_t convert_section(struct sums *sums, unsigned char *at, size_t left)
{
	unsigned char *contents = at + sizeof(struct ins_snapshot_section);
	struct ins_snapshot_section section;
	uint32_t before;

	if (left < sizeof section)
		return 0;
	memcpy(&section, at, sizeof section);
	ins_swap_runs(&section, sizeof section, section_runs);
	if (section.magic != INS_SNAPSHOT_SECTION || section.size > left - sizeof section)
		return 0;
	before = sum_of(at, contents, section.size);
	memcpy(at, &section, sizeof section);
	convert_contents(sums, section.type, contents, section.size);
	ins_snapshot_sums_add(&sums->before, before);
	ins_snapshot_sums_add(&sums->after, sum_of(at, contents, section.size));
	return sizeof section + section.size;
}

static void convert(unsigned char *at, size_t size)
{
	struct ins_snapshot_head head;
	struct sums sums = {0};
	size_t done, next;

	memcpy(&head, at, size < sizeof head ? size : sizeof head);
	ins_swap_runs(&head, sizeof head, head_runs);
	done = head.head_size;
	if (done > size) {
		ins_swap_runs(at, size, head_runs); /* a reader says what is wrong */
		return;
	}
	ins_snapshot_sums_add(&sums.before, ins_snapshot_sum(0, at, done));
	ins_swap_runs(at, done, head_runs);
	ins_snapshot_sums_add(&sums.after, ins_snapshot_sum(0, at, done));
	for (; (next = convert_section(&sums, at + done, size - done)) != 0; done += next)
		;
}

/* A file in memory of that size, mapped; or NULL with errno. */
static void *map_memory(size_t size)
{
	const int fd = memfd_create("snapshot", MFD_CLOEXEC);
	void *at = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (ftruncate(fd, (off_t)size) == 0)
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

int ins_snapshot_order_convert(const void *bytes, size_t size, void **ret_copy)
{
	void *copy = map_memory(size);

	if (!copy)
		return -errno;
	memcpy(copy, bytes, size);
	convert(copy, size);
	*ret_copy = copy;
	return 0;
}
