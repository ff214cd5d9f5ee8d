/* SPDX-License-Identifier: MIT */
/*
 * image.h - the headers of an ELF image, read from a process, a core or a file
 *
 * All three are bytes behind a read function (fib_read_fn of row.h) that returns a negative errno
 * instead of faulting. For a file an address is an offset in the file. Every number is treated as
 * hostile: counts are limited, sums are checked.
 */
#ifndef INS_IMAGE_H
#define INS_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/elf/machine.h"
#include "layout/row.h"

#define INS_IMAGE_SEGMENTS 64
#define INS_BUILD_ID_MAX   64

struct ins_image {
	uint16_t type; /* ET_EXEC, ET_DYN, ET_CORE */
	struct ins_machine machine;
	bool loaded;   /* read from memory, not from a file */
	uint64_t base; /* where the ELF header is */
	uint64_t bias; /* address in the process - p_vaddr; 0 for a file */
	unsigned segments;
	Elf64_Phdr segment[INS_IMAGE_SEGMENTS];
	unsigned build_id_size; /* 0: none */
	unsigned char build_id[INS_BUILD_ID_MAX];
};

/*
 * Read the headers of the image whose ELF header is at base. loaded: the image is mapped in a
 * process and base is an address; else base is 0 and addresses are file offsets. Returns NULL, or
 * what is wrong, a constant string.
 */
const char *ins_image_read(struct ins_image *ret, fib_read_fn *read, void *reader, uint64_t base,
			   bool loaded);

/*
 * Check that eh is of the class that this tool reads, and convert it to this machine's byte order.
 * Returns NULL and the machine, or what is wrong.
 */
const char *ins_image_check(Elf64_Ehdr *eh, struct ins_machine *ret);

/*
 * Find the allocated note `name` of `type`. Its first size bytes go to buf, with zeros if it is
 * shorter. *ret_address is the address of its contents, p_vaddr plus bias (for a file: as linked,
 * bias 0); *ret_size its full size. bias is what the caller knows about where the image is loaded.
 * Returns 0, or -ENOENT if there is none.
 */
int ins_image_note(const struct ins_image *image, fib_read_fn *read, void *reader, const char *name,
		   uint32_t type, void *buf, size_t size, uint64_t *ret_address,
		   uint32_t *ret_size);

struct ins_note {
	char name[16]; /* truncated, terminated */
	uint32_t type;
	uint32_t size; /* of the contents */
	uint64_t at;   /* where the contents are, in the reader's addresses */
};

/* Where notes are: [at, end), aligned to align (4 or 8). */
struct ins_notes {
	uint64_t at, end;
	unsigned align;
	bool swapped; /* as in struct ins_machine */
};

/* Step over the next note. False at the end, and at an invalid note. */
bool ins_note_next(fib_read_fn *read, void *reader, struct ins_notes *notes, struct ins_note *ret);

#endif
