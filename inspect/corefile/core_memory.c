/* SPDX-License-Identifier: MIT */
/* core_memory.c - read the bytes of a core file and the memory in it */
#include "inspect/corefile/core_memory.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define LOWEST_MAPPED 0x10000 /* vm.mmap_min_addr */

int ins_core_read_file(const struct ins_core *core, uint64_t offset, void *buf, size_t size)
{
	size_t done = 0;

	if (offset > core->file_size || size > core->file_size - offset)
		return -EFAULT;
	while (done < size) {
		ssize_t n =
			pread(core->fd, (char *)buf + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EFAULT;
		done += (size_t)n;
	}
	return 0;
}

/* Find the segment that has address, or NULL. */
static const struct ins_core_load *find_load(const struct ins_core *core, uint64_t address)
{
	size_t low = 0, high = core->loads;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (core->load[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address - core->load[low - 1].address >= core->load[low - 1].memory)
		return NULL;
	return &core->load[low - 1];
}

bool ins_core_no_code(const struct ins_core *core, uint64_t address)
{
	const struct ins_core_load *load = find_load(core, address);

	/*
	 * gcore does not list memory that it leaves out, such as files. But nothing can be mapped
	 * below this address.
	 */
	return load ? !(load->flags & PF_X) : address < LOWEST_MAPPED;
}

size_t ins_core_read_some(const struct ins_core *core, uint64_t address, void *buf, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const struct ins_core_load *load = find_load(core, address + done);
		uint64_t into, n;

		if (!load)
			break;
		into = address + done - load->address;
		if (into >= load->size)
			break;
		n = load->size - into < size - done ? load->size - into : size - done;
		if (ins_core_read_file(core, load->offset + into, (char *)buf + done, n) < 0)
			break;
		done += n;
	}
	return done;
}

int ins_core_read(const struct ins_core *core, uint64_t address, void *buf, size_t size)
{
	return ins_core_read_some(core, address, buf, size) == size ? 0 : -EFAULT;
}

uint64_t ins_core_run(const struct ins_core *core, uint64_t address, uint64_t size, bool *ret_there)
{
	const struct ins_core_load *load = find_load(core, address);
	uint64_t left;
	off_t at, end;

	*ret_there = true;
	if (!load || address - load->address >= load->size)
		return size;
	at = (off_t)(load->offset + (address - load->address));
	left = load->size - (address - load->address);
	left = left < size ? left : size;
	end = lseek(core->fd, at, SEEK_DATA);
	if (end == at)
		end = lseek(core->fd, at, SEEK_HOLE);
	else if (end > at || errno == ENXIO)
		*ret_there = false;
	/*
	 * Nothing follows the last byte that was written. If the file system cannot tell, all of it
	 * counts as data.
	 */
	return end > at && (uint64_t)(end - at) < left ? (uint64_t)(end - at) : left;
}

uint64_t ins_core_lowest_used(const struct ins_core *core, uint64_t low, uint64_t high)
{
	static const unsigned char zero[4096];
	unsigned char page[4096];
	uint64_t at = low;

	while (at < high) {
		const struct ins_core_load *load = find_load(core, at);
		uint64_t to_edge = 4096 - at % 4096, n = high - at < to_edge ? high - at : to_edge;
		off_t offset, data;

		if (!load || at - load->address >= load->size)
			return UINT64_MAX;
		/*
		 * A core is sparse: a page that was never written is a hole. Skip to the end of the
		 * hole.
		 */
		offset = (off_t)(load->offset + (at - load->address));
		data = lseek(core->fd, offset, SEEK_DATA);
		if (data > offset && (uint64_t)(data - offset) >= n) {
			uint64_t left = load->size - (at - load->address);
			uint64_t skip = (uint64_t)(data - offset);

			skip = skip < left ? skip : left;
			at = skip < high - at ? at + skip : high;
			continue;
		}
		if (ins_core_read(core, at, page, n) < 0)
			return UINT64_MAX;
		if (memcmp(page, zero, n) != 0)
			return at;
		at += n;
	}
	return high;
}
