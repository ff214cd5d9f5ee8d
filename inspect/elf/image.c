/* SPDX-License-Identifier: MIT */
/*
 * image.c - read ELF headers from untrusted bytes
 *
 * The bytes are a process' memory, a core's, or a file's. They may be incomplete, hostile, or not
 * ELF at all. So no number is used as an index or a length before it is compared with a limit. Sums
 * are made in 64 bits of numbers that were limited first. Every loop has a fixed limit.
 */
#include "inspect/elf/image.h"

#include <errno.h>
#include <string.h>

#define NOTES_MAX      256 /* notes read in one segment */
#define NOTE_BYTES_MAX (1u << 30)
#define MINE	       (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

const char *ins_image_check(Elf64_Ehdr *eh, struct ins_machine *ret)
{
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0)
		return "is not an ELF file";
	if (eh->e_ident[EI_CLASS] == ELFCLASS32)
		return "is a 32-bit ELF file; only 64-bit programs have fibers";
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_VERSION] != EV_CURRENT)
		return "is an ELF file of an unknown class";
	if (eh->e_ident[EI_DATA] != ELFDATA2LSB && eh->e_ident[EI_DATA] != ELFDATA2MSB)
		return "is an ELF file of an unknown byte order";
	ret->swapped = eh->e_ident[EI_DATA] != MINE;
	if (ret->swapped)
		ins_swap_members(eh, INS_SWAP_EHDR);
	ret->number = eh->e_machine;
	return NULL;
}

/* The distance between p_vaddr and memory, from the segment that contains the ELF header. */
static bool find_bias(struct ins_image *image)
{
	unsigned i;

	for (i = 0; i < image->segments; i++) {
		const Elf64_Phdr *ph = &image->segment[i];

		if (ph->p_type == PT_LOAD && ph->p_offset < 0x1000) {
			image->bias = image->base + ph->p_offset - ph->p_vaddr;
			return true;
		}
	}
	return false;
}

const char *ins_image_read(struct ins_image *ret, fib_read_fn *read, void *reader, uint64_t base,
			   bool loaded)
{
	Elf64_Ehdr eh;
	const char *wrong;
	unsigned i;
	uint64_t at;
	uint32_t size;

	memset(ret, 0, sizeof *ret);
	if (read(reader, base, &eh, sizeof eh) < 0)
		return "has no readable ELF header";
	wrong = ins_image_check(&eh, &ret->machine);
	if (wrong)
		return wrong;
	if (eh.e_phnum > INS_IMAGE_SEGMENTS || eh.e_phnum == 0 ||
	    eh.e_phentsize != sizeof(Elf64_Phdr) || eh.e_phoff > UINT32_MAX)
		return "has program headers that make no sense";
	ret->type = eh.e_type;
	ret->loaded = loaded;
	ret->base = base;
	for (i = 0; i < eh.e_phnum; i++) {
		if (read(reader, base + eh.e_phoff + i * sizeof(Elf64_Phdr), &ret->segment[i],
			 sizeof(Elf64_Phdr)) < 0)
			return "has unreadable program headers";
		if (ret->machine.swapped)
			ins_swap_members(&ret->segment[i], INS_SWAP_PHDR);
	}
	ret->segments = eh.e_phnum;
	if (loaded && !find_bias(ret))
		return "has no segment that contains its header";
	if (ins_image_note(ret, read, reader, "GNU", NT_GNU_BUILD_ID, ret->build_id,
			   sizeof ret->build_id, &at, &size) == 0)
		ret->build_id_size = size < INS_BUILD_ID_MAX ? size : INS_BUILD_ID_MAX;
	return NULL;
}

static bool find_note(fib_read_fn *read, void *reader, struct ins_notes notes, const char *name,
		      uint32_t type, struct ins_note *ret)
{
	unsigned n;

	for (n = 0; n < NOTES_MAX && ins_note_next(read, reader, &notes, ret); n++)
		if (ret->type == type && strcmp(ret->name, name) == 0)
			return true;
	return false;
}

int ins_image_note(const struct ins_image *image, fib_read_fn *read, void *reader, const char *name,
		   uint32_t type, void *buf, size_t size, uint64_t *ret_address, uint32_t *ret_size)
{
	unsigned i;

	for (i = 0; i < image->segments; i++) {
		const Elf64_Phdr *ph = &image->segment[i];
		uint64_t begin = image->loaded ? image->bias + ph->p_vaddr : ph->p_offset;
		struct ins_notes notes = {begin, begin + ph->p_filesz, ph->p_align == 8 ? 8 : 4,
					  image->machine.swapped};
		struct ins_note note;
		bool found;

		if (ph->p_type != PT_NOTE || ph->p_filesz > NOTE_BYTES_MAX)
			continue;
		found = find_note(read, reader, notes, name, type, &note);
		/* mold puts notes of both alignments into one segment. */
		if (!found && notes.align == 8) {
			notes.align = 4;
			found = find_note(read, reader, notes, name, type, &note);
		}
		if (!found)
			continue;
		memset(buf, 0, size);
		if (read(reader, note.at, buf, note.size < size ? note.size : size) < 0)
			continue;
		*ret_address = note.at - begin + ph->p_vaddr + image->bias;
		*ret_size = note.size;
		return 0;
	}
	return -ENOENT;
}

bool ins_note_next(fib_read_fn *read, void *reader, struct ins_notes *notes, struct ins_note *ret)
{
	const uint64_t mask = ~(uint64_t)(notes->align - 1), at = notes->at;
	Elf64_Nhdr nh;
	uint64_t left, name_room;

	if (at > notes->end || notes->end - at < sizeof nh)
		return false;
	if (read(reader, at, &nh, sizeof nh) < 0)
		return false;
	if (notes->swapped)
		ins_swap_members(&nh, INS_SWAP_NHDR);
	left = notes->end - at - sizeof nh;
	/* The name's field ends where the contents start; this is aligned from the note's start. */
	name_room = ((sizeof nh + (uint64_t)nh.n_namesz + notes->align - 1) & mask) - sizeof nh;
	if (name_room > left || nh.n_descsz > left - name_room)
		return false;
	memset(ret, 0, sizeof *ret);
	if (nh.n_namesz &&
	    read(reader, at + sizeof nh, ret->name,
		 nh.n_namesz < sizeof ret->name ? nh.n_namesz : sizeof ret->name - 1) < 0)
		return false;
	ret->type = nh.n_type;
	ret->size = nh.n_descsz;
	ret->at = at + sizeof nh + name_room;
	notes->at = ret->at + (((uint64_t)nh.n_descsz + notes->align - 1) & mask);
	return true;
}
