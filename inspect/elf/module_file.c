/* SPDX-License-Identifier: MIT */
/*
 * module_file.c - find the file of a module
 *
 * The path in maps may lead nowhere (a container's path, seen from outside), to another file (the
 * program was upgraded while it ran) or to the right file. So there are several ways to the file:
 * through the process' own root, through the kernel's link to the mapped file, and by the plain
 * path.
 *
 * A file is accepted only if it is the one in memory: the same build-id or, without build-ids, the
 * same segments. If memory cannot be read, a live process' path is accepted unless maps marks it
 * deleted. A core's path is used with a warning.
 */
#include "inspect/elf/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/text/access.h"
#include "inspect/elf/debug_search.h"
#include "inspect/elf/vdso.h"
#include "inspect/text/member.h"

struct bytes {
	const unsigned char *at;
	size_t size;
};

static int read_bytes(void *reader, uint64_t address, void *buf, size_t size)
{
	const struct bytes *b = reader;

	if (address > b->size || size > b->size - address)
		return -EFAULT;
	memcpy(buf, b->at + address, size);
	return 0;
}

/*
 * Open a regular file. Returns a negative errno; -EINVAL if it is no regular file. A process may
 * have mapped a device, or claim to have, and opening a device can trigger an action. So the type
 * is checked before the file is opened.
 */
static int open_regular(const char *path, struct stat *ret_stat)
{
	int handle = open(path, O_PATH | O_CLOEXEC), fd = -EINVAL;
	char again[64];

	if (handle < 0)
		return -errno;
	if (fstat(handle, ret_stat) == 0 && S_ISREG(ret_stat->st_mode) && ret_stat->st_size > 0) {
		snprintf(again, sizeof again, "/proc/self/fd/%d", handle);
		fd = open(again, O_RDONLY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	close(handle);
	return fd;
}

/*
 * Map a regular file and read its headers. Returns NULL, or what is wrong; *ret_denied: no
 * permission to read it.
 */
static const char *map_file(const char *path, struct bytes *ret, struct ins_image *ret_image,
			    bool *ret_denied)
{
	const char *wrong = NULL;
	struct stat st = {0};
	void *at;
	int fd = open_regular(path, &st);

	*ret_denied = fd == -EACCES;
	if (fd < 0) {
		wrong = fd == -EINVAL ? "is not a file with contents" : strerror(-fd);
		return wrong ? wrong : "cannot be opened";
	}
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return "cannot be mapped";
	ret->at = at;
	ret->size = (size_t)st.st_size;
	wrong = ins_image_read(ret_image, read_bytes, ret, 0, false);
	if (!wrong && ret_image->type != ET_DYN && ret_image->type != ET_EXEC)
		wrong = "is no program or library";
	if (wrong)
		munmap(at, ret->size);
	return wrong;
}

/* Whether the file is the one in memory. */
static bool same_image(const struct ins_image *memory, const struct ins_image *file)
{
	unsigned i;

	if (!ins_machine_equal(memory->machine, file->machine) || memory->type != file->type)
		return false;
	if (memory->build_id_size)
		return memory->build_id_size == file->build_id_size &&
		       memcmp(memory->build_id, file->build_id, file->build_id_size) == 0;
	if (memory->segments != file->segments)
		return false;
	for (i = 0; i < memory->segments; i++) {
		const Elf64_Phdr *a = &memory->segment[i], *b = &file->segment[i];

		if (a->p_type != b->p_type || a->p_vaddr != b->p_vaddr ||
		    a->p_offset != b->p_offset || a->p_filesz != b->p_filesz)
			return false;
	}
	return true;
}

static void keep(struct ins_module *m, const char *path, struct bytes bytes,
		 const struct ins_image *image)
{
	m->file = strdup(path);
	if (!m->file) {
		munmap((void *)bytes.at, bytes.size);
		return;
	}
	m->bytes = bytes.at;
	m->bytes_size = bytes.size;
	m->file_image = *image;
	if (!m->known) {
		unsigned i;

		for (i = 0; i < image->segments; i++) {
			const Elf64_Phdr *ph = &image->segment[i];

			if (ph->p_type != PT_LOAD || ph->p_offset >= 0x1000)
				continue;
			m->image = *image;
			m->bias = m->start + ph->p_offset - ph->p_vaddr;
			m->known = true;
			break;
		}
	}
}

/* Try one path. certain: the path leads to the mapped file regardless of its name. */
static bool try_file(const struct ins_modules *modules, struct ins_module *m, const char *path,
		     bool certain, bool *ret_other)
{
	struct ins_image image;
	struct bytes bytes;
	bool denied;

	if (map_file(path, &bytes, &image, &denied)) {
		m->denied = m->denied || (denied && !certain);
		return false;
	}
	if (!ins_machine_equal(image.machine, modules->machine) ||
	    (m->known ? !same_image(&m->image, &image) : m->deleted && !certain)) {
		munmap((void *)bytes.at, bytes.size);
		*ret_other = true;
		return false;
	}
	keep(m, path, bytes, &image);
	return m->bytes != NULL;
}

static bool is_exe(pid_t pid, const struct ins_module *m)
{
	char link[64], target[4096];
	size_t n = strlen(m->path);
	ssize_t got;

	snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
	got = readlink(link, target, sizeof target);
	if (got < (ssize_t)n || memcmp(target, m->path, n) != 0)
		return false;
	return (size_t)got == n ||
	       ((size_t)got == n + 10 && memcmp(target + n, " (deleted)", 10) == 0);
}

/*
 * Use this machine's vdso for its processes, and for a snapshot if it is the one that the snapshot
 * describes.
 */
static void find_vdso(const struct ins_modules *modules, struct ins_module *m)
{
	const bool kept = m->known && !modules->read;
	char path[64];
	bool other;

	if ((modules->pid || kept) && ins_vdso_path(path, sizeof path) == 0 &&
	    try_file(modules, m, path, true, &other))
		return;
	if (!kept || modules->vdso < 0)
		return;
	snprintf(path, sizeof path, "/proc/self/fd/%d", modules->vdso);
	try_file(modules, m, path, true, &other);
}

static void find_file(struct ins_modules *modules, struct ins_module *m)
{
	char path[4096 + 64];
	bool other = false;
	const int pid = modules->pid ? (int)ins_member(modules->pid) : 0;

	if (strcmp(m->path, "[vdso]") == 0)
		find_vdso(modules, m);
	if (m->path[0] != '/')
		return;
	if (pid) {
		snprintf(path, sizeof path, "/proc/%d/root%s", pid, m->path);
		if (try_file(modules, m, path, false, &other))
			return;
		snprintf(path, sizeof path, "/proc/%d/map_files/%llx-%llx", pid,
			 (unsigned long long)m->start, (unsigned long long)m->first_end);
		if (try_file(modules, m, path, true, &other))
			return;
		snprintf(path, sizeof path, "/proc/%d/exe", pid);
		if (is_exe(pid, m) && try_file(modules, m, path, true, &other))
			return;
	}
	if (!pid && ins_debug_search_in_sysroot(m->path, path, sizeof path)) {
		if (try_file(modules, m, path, false, &other)) {
			m->unsure = !m->image.loaded;
			return;
		}
		if (other)
			ins_problems_add(
				modules->problems,
				"%s is not the one that ran: its build-id differs; it is not used",
				path);
	}
	if (try_file(modules, m, m->path, false, &other)) {
		m->unsure = !pid && !m->image.loaded;
		return;
	}
	if (m->known && ins_debug_search_by_build_id(modules, m, path, sizeof path) &&
	    try_file(modules, m, path, true, &other))
		return;
	/* This becomes a problem only when a walk needs the file. */
	m->other = other;
}

bool ins_modules_look(struct ins_modules *modules, struct ins_module *module)
{
	bool readable = false;

	if (module->looked)
		return module->known;
	module->looked = true;
	if (modules->read) {
		unsigned char magic[SELFMAG];

		readable = modules->read(modules->reader, module->start, magic, sizeof magic) >= 0;
		if (readable && !ins_image_read(&module->image, modules->read, modules->reader,
						module->start, true)) {
			module->known = true;
			module->bias = module->image.bias;
		}
	}
	/* If memory shows no ELF image, the file is of another kind and is not opened. */
	if ((module->known || !readable) && !module->bytes)
		find_file(modules, module);
	return module->known;
}

/* Without memory the module keeps its name. */
static void rename_module(struct ins_module *module, const char *path)
{
	char *name = strdup(path);

	if (!name)
		return;
	free(module->path);
	module->path = name;
}

int ins_modules_give(struct ins_modules *modules, struct ins_module *module, const char *path,
		     struct ins_error *error)
{
	char theirs[32], ran[32], why[INS_ACCESS_EXPLAIN_SIZE];
	struct ins_image image;
	struct bytes bytes;
	bool denied;
	const char *wrong = map_file(path, &bytes, &image, &denied);

	if (denied)
		return ins_error_set(
			error, -EACCES, "%s: %s", path,
			ins_access_explain(path, INS_ACCESS_READ, -EACCES, why, sizeof why));
	if (wrong)
		return ins_error_set(error, -EINVAL, "%s: %s", path, wrong);
	if (!ins_machine_equal(image.machine, modules->machine)) {
		munmap((void *)bytes.at, bytes.size);
		return ins_error_set(error, -EINVAL,
				     "%s: is built for %s, the program that ran for %s", path,
				     ins_machine_name(image.machine.number, theirs, sizeof theirs),
				     ins_machine_name(modules->machine.number, ran, sizeof ran));
	}
	ins_modules_look(modules, module);
	if (module->known && module->image.loaded && !same_image(&module->image, &image)) {
		munmap((void *)bytes.at, bytes.size);
		return ins_error_set(error, -EINVAL,
				     "%s: is not the program that ran: its build-id differs from "
				     "that of %s in memory",
				     path, module->path[0] ? module->path : "the program");
	}
	if (module->bytes) {
		munmap((void *)module->bytes, module->bytes_size);
		free(module->file);
		module->bytes = NULL;
	}
	if (!module->image.loaded)
		module->known = false;
	keep(module, path, bytes, &image);
	if (!module->path[0] && module->file)
		rename_module(module, path);
	return module->bytes ? 0 : ins_error_set(error, -ENOMEM, "%s: out of memory", path);
}

uint64_t ins_modules_file_span(const char *path)
{
	struct ins_image image;
	struct bytes bytes;
	uint64_t end = 0, low = UINT64_MAX;
	bool denied;
	unsigned i;

	if (map_file(path, &bytes, &image, &denied))
		return 0;
	for (i = 0; i < image.segments; i++) {
		const Elf64_Phdr *ph = &image.segment[i];

		if (ph->p_type != PT_LOAD)
			continue;
		low = ph->p_vaddr - ph->p_offset < low ? ph->p_vaddr - ph->p_offset : low;
		end = ph->p_vaddr + ph->p_memsz > end ? ph->p_vaddr + ph->p_memsz : end;
	}
	munmap((void *)bytes.at, bytes.size);
	return end > low ? end - low : 0;
}
