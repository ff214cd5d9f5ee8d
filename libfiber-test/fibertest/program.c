/* SPDX-License-Identifier: MIT */
/*
 * program.c - whether libfiber-test.so can take the place of libfiber in a program
 *
 * It can where the program finds libfiber by the loader. A program that needs libfiber.so only
 * through another library, or loads it later, is not refused here.
 */
#include "fibertest/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <gelf.h>
#include <libelf.h>

static const char *runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "it is no regular file";
	if (access(path, X_OK) < 0)
		return "it is not executable";
	return NULL;
}

const char *fib_program_find(const char *name, char ret_path[PATH_MAX])
{
	const char *at = getenv("PATH"), *end;
	int n;

	if (strchr(name, '/')) {
		n = snprintf(ret_path, PATH_MAX, "%s", name);
		return n >= PATH_MAX ? strerror(ENAMETOOLONG) : runnable(name);
	}
	for (at = at ? at : "/bin:/usr/bin";; at = end + 1) {
		end = strchrnul(at, ':');
		n = snprintf(ret_path, PATH_MAX, "%.*s%s%s", (int)(end - at), at,
			     end > at ? "/" : "./", name);
		if (n < PATH_MAX && !runnable(ret_path))
			return NULL;
		if (!*end)
			return "not found in PATH; write ./ before a program of this folder";
	}
}

/* What is of interest in an ELF file. */
struct facts {
	bool interpreted; /* by the loader */
	bool shared;	  /* needs libfiber.so */
	bool sanitizer;	  /* needs a sanitizer's runtime */
	bool inside;	  /* has the registry's note */
};

static void read_needed(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct facts *ret)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const char *name;
	GElf_Dyn entry;
	int i;

	for (i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		if (entry.d_tag != DT_NEEDED)
			continue;
		name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
		if (!name)
			continue;
		ret->shared = ret->shared || strncmp(name, "libfiber.so.", 12) == 0;
		ret->sanitizer = ret->sanitizer || strncmp(name, "libasan.so.", 11) == 0 ||
				 strncmp(name, "libtsan.so.", 11) == 0;
	}
}

static void read_facts(Elf *elf, struct facts *ret)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Phdr segment;
	const char *name;
	size_t n, names, i;

	if (elf_getphdrnum(elf, &n) == 0)
		for (i = 0; i < n && gelf_getphdr(elf, (int)i, &segment); i++)
			ret->interpreted = ret->interpreted || segment.p_type == PT_INTERP;
	if (elf_getshdrstrndx(elf, &names) < 0)
		return;
	while ((section = elf_nextscn(elf, section)) && gelf_getshdr(section, &header)) {
		name = elf_strptr(elf, names, header.sh_name);
		if (header.sh_type == SHT_DYNAMIC)
			read_needed(elf, section, &header, ret);
		if (header.sh_type == SHT_NOTE && name && strcmp(name, ".note.fiber") == 0)
			ret->inside = true;
	}
}

/* The machine of this very program. */
static int own_machine(void)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	GElf_Ehdr header;
	const int machine = gelf_getehdr(elf, &header) ? header.e_machine : EM_NONE;

	elf_end(elf);
	close(fd);
	return machine;
}

static const char *refusal_of(Elf *elf)
{
	struct facts facts = {false, false, false, false};
	GElf_Ehdr header;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return "it is no program (an ELF executable)";
	if (header.e_machine != own_machine())
		return "it is of another machine than fibertest";
	read_facts(elf, &facts);
	if (facts.inside)
		return "it has libfiber inside; link it with libfiber.so, or its parts with "
		       "libfiber-test";
	if (!facts.interpreted)
		return "it is linked statically; link it with libfiber.so";
	if (facts.sanitizer)
		return "it is built with a sanitizer, whose runtime must be loaded first; build it "
		       "without";
	return NULL;
}

/* The loader preloads nothing into a program that gains rights. */
static bool gains_rights(int fd)
{
	struct stat st;

	return (fstat(fd, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID))) ||
	       fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

const char *fib_program_refusal(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *why = NULL;
	char magic[2] = "";
	Elf *elf;

	if (fd < 0)
		return strerror(errno);
	elf_version(EV_CURRENT);
	if (pread(fd, magic, 2, 0) == 2 && memcmp(magic, "#!", 2) == 0)
		why = "it is a script; name the program that it runs";
	else if (gains_rights(fd))
		why = "it gains rights when it starts, so nothing can be preloaded; explore a copy "
		      "of it";
	if (!why) {
		elf = elf_begin(fd, ELF_C_READ, NULL);
		why = elf ? refusal_of(elf) : elf_errmsg(-1);
		elf_end(elf);
	}
	close(fd);
	return why;
}
