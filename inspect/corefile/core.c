/* SPDX-License-Identifier: MIT */
/*
 * core.c - open a core file
 *
 * A core has one segment for each mapping of the process, sometimes more than 65535 (then their
 * number is in section header 0). Many cores are truncated by a full disk or a size limit: segments
 * are clipped to the bytes that the file has, and the missing bytes are counted.
 */
#include "inspect/corefile/core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/text/access.h"
#include "inspect/elf/compressed.h"
#include "inspect/elf/image.h"
#include "inspect/corefile/core_status.h"
#include "inspect/corefile/status_note.h"

#define SEGMENTS_MAX (1u << 20)
#define NOTES_MAX    (1u << 20) /* read in total */

static int read_file(void *core, uint64_t offset, void *buf, size_t size)
{
	return ins_core_read_file(core, offset, buf, size);
}

static int check_header(const char *path, struct ins_core *core, Elf64_Ehdr *eh,
			struct ins_error *error)
{
	const char *wrong;

	if (core->file_size == 0)
		return ins_error_set(error, -EINVAL, "%s: is not a core file: it is empty", path);
	memset(eh, 0, sizeof *eh);
	if (ins_core_read_file(core, 0, eh,
			       core->file_size < sizeof *eh ? core->file_size : sizeof *eh) < 0)
		return ins_error_set(error, -EIO, "%s: cannot be read", path);
	wrong = ins_image_check(eh, &core->machine);
	if (wrong)
		return ins_error_set(error, -EINVAL, "%s: is not a core file: it %s", path, wrong);
	if (core->file_size < sizeof *eh)
		return ins_error_set(error, -EINVAL, "%s: is truncated within its ELF header",
				     path);
	if (eh->e_type != ET_CORE)
		return ins_error_set(error, -EINVAL, "%s: is a program or library, not a core file",
				     path);
	if (eh->e_phentsize != sizeof(Elf64_Phdr))
		return ins_error_set(error, -EINVAL, "%s: has program headers that make no sense",
				     path);
	return 0;
}

static uint32_t segment_count(const struct ins_core *core, const Elf64_Ehdr *eh)
{
	Elf64_Shdr sh;

	if (eh->e_phnum != PN_XNUM)
		return eh->e_phnum;
	if (ins_core_read_file(core, eh->e_shoff, &sh, sizeof sh) < 0)
		return 0;
	if (core->machine.swapped)
		ins_swap_members(&sh, INS_SWAP_SHDR);
	return sh.sh_info;
}

static void add_load(struct ins_core *core, const Elf64_Phdr *ph)
{
	struct ins_core_load *load = &core->load[core->loads];
	uint64_t has = ph->p_offset < core->file_size ? core->file_size - ph->p_offset : 0;

	if (ph->p_vaddr + ph->p_memsz < ph->p_vaddr)
		return;
	load->address = ph->p_vaddr;
	load->memory = ph->p_memsz;
	load->size = ph->p_filesz < ph->p_memsz ? ph->p_filesz : ph->p_memsz;
	load->offset = ph->p_offset;
	load->flags = ph->p_flags;
	if (load->size > has) {
		core->missing += load->size - has;
		load->size = has;
	}
	core->loads++;
}

static void take_auxv(struct ins_core *core, const struct ins_note *note)
{
	uint32_t i;

	core->auxv_at = note->at;
	core->auxv_size = note->size;
	for (i = 0; i + sizeof(Elf64_auxv_t) <= note->size && i < 4096; i += sizeof(Elf64_auxv_t)) {
		Elf64_auxv_t aux;

		if (ins_core_read_file(core, note->at + i, &aux, sizeof aux) < 0)
			return;
		if (core->machine.swapped)
			ins_swap_members(&aux, "88");
		if (aux.a_type == AT_PHDR)
			core->phdr = aux.a_un.a_val;
		else if (aux.a_type == AT_ENTRY)
			core->entry = aux.a_un.a_val;
		else if (aux.a_type == AT_SYSINFO_EHDR)
			core->vdso = aux.a_un.a_val;
	}
}

static void take_notes(struct ins_core *core, const Elf64_Phdr *ph, unsigned *left)
{
	struct ins_notes notes = {ph->p_offset, ph->p_offset + ph->p_filesz,
				  ph->p_align == 8 ? 8 : 4, core->machine.swapped};
	struct elf_prpsinfo info;
	struct ins_note note;

	if (notes.end < notes.at || notes.end > core->file_size)
		notes.end = core->file_size;
	if (!core->notes.at)
		core->notes = notes;
	for (; *left; --*left) {
		if (!ins_note_next(read_file, core, &notes, &note))
			return;
		if (strcmp(note.name, "CORE") != 0)
			continue;
		if (note.type == NT_PRPSINFO && note.size >= sizeof info &&
		    ins_core_read_file(core, note.at, &info, sizeof info) == 0) {
			ins_status_note_swap_process(core->machine, &info);
			core->pid = info.pr_pid;
			core->info = info;
			memcpy(core->program, info.pr_fname, 16);
		} else if (note.type == NT_AUXV) {
			take_auxv(core, &note);
		} else if (note.type == NT_FILE) {
			core->files_at = note.at;
			core->files_size = note.size;
		} else {
			ins_core_take_status(core, &note);
		}
	}
}

static int by_address(const void *a, const void *b)
{
	const struct ins_core_load *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int index_segments(const char *path, struct ins_core *core, struct ins_error *error)
{
	unsigned notes = NOTES_MAX;
	uint32_t count, i;
	Elf64_Ehdr eh = {0};
	Elf64_Phdr *ph;
	int rc = check_header(path, core, &eh, error);

	if (rc < 0)
		return rc;
	count = segment_count(core, &eh);
	if (count == 0 || count > SEGMENTS_MAX)
		return ins_error_set(error, -EINVAL,
				     "%s: has no program headers: truncated, or no core file",
				     path);
	ph = malloc(count * sizeof *ph);
	core->load = malloc(count * sizeof *core->load);
	if (!ph || !core->load) {
		rc = ins_error_set(error, -ENOMEM, "out of memory");
	} else if (ins_core_read_file(core, eh.e_phoff, ph, count * sizeof *ph) < 0) {
		rc = ins_error_set(error, -EINVAL, "%s: is truncated within its program headers",
				   path);
	} else {
		for (i = 0; i < count; i++) {
			if (core->machine.swapped)
				ins_swap_members(&ph[i], INS_SWAP_PHDR);
			if (ph[i].p_type == PT_LOAD && ph[i].p_memsz)
				add_load(core, &ph[i]);
			else if (ph[i].p_type == PT_NOTE)
				take_notes(core, &ph[i], &notes);
		}
		qsort(core->load, core->loads, sizeof *core->load, by_address);
		ins_core_sort_statuses(core);
	}
	free(ph);
	return rc;
}

bool ins_core_meant(const char *path)
{
	unsigned char magic[8] = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? 0 : read(fd, magic, sizeof magic);

	if (fd >= 0)
		close(fd);
	return n >= SELFMAG && (!memcmp(magic, ELFMAG, SELFMAG) ||
				ins_compressed_as(magic, (size_t)n) != INS_COMPRESSED_NOT);
}

/* Unpack a compressed file. The unpacked file replaces it. */
static int unpack(const char *path, struct ins_core *core, struct ins_error *error)
{
	enum ins_compression as;
	struct ins_unpacked unpacked;
	unsigned char magic[8];
	ssize_t n = pread(core->fd, magic, sizeof magic, 0);
	int rc;

	as = n > 0 ? ins_compressed_as(magic, (size_t)n) : INS_COMPRESSED_NOT;
	if (as == INS_COMPRESSED_NOT)
		return 0;
	rc = ins_compressed_unpack(path, core->fd, as, error, &unpacked);
	if (rc < 0)
		return rc;
	close(core->fd);
	core->fd = unpacked.fd;
	core->file_size = unpacked.size;
	memcpy(core->cut, unpacked.cut, sizeof core->cut);
	return 0;
}

int ins_core_open(const char *path, struct ins_error *error, struct ins_core *ret)
{
	char why[INS_ACCESS_EXPLAIN_SIZE];
	struct stat st;
	int rc;

	memset(ret, 0, sizeof *ret);
	ret->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (ret->fd < 0) {
		rc = -errno;
		return ins_error_set(
			error, rc, "%s: %s", path,
			ins_access_explain(path, INS_ACCESS_READ, rc, why, sizeof why));
	}
	if (fstat(ret->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		rc = ins_error_set(error, -EINVAL, "%s: is not a regular file", path);
	} else {
		ret->file_size = (uint64_t)st.st_size;
		rc = unpack(path, ret, error);
		if (rc == 0)
			rc = index_segments(path, ret, error);
	}
	if (rc < 0)
		ins_core_close(ret);
	return rc;
}

void ins_core_close(struct ins_core *core)
{
	if (core->fd >= 0)
		close(core->fd);
	core->fd = -1;
	free(core->load);
	free(core->thread);
	core->load = NULL;
	core->thread = NULL;
	core->loads = 0;
}
