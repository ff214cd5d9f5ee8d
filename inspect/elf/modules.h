/* SPDX-License-Identifier: MIT */
/*
 * modules.h - which ELF file is mapped where, and its bytes
 *
 * The list comes from the text of /proc/PID/maps (of a live process, or sent over the control
 * socket) or from a core's NT_FILE note and segments. A module is the run of mappings of one file
 * from its ELF header on.
 *
 * A module's file has three uses: its unwind tables, its names and lines, and its bytes if the
 * source has no memory for them (the control socket; a core without code). It is opened when first
 * needed. It is accepted only if its build-id is the one in the process' memory or, if memory
 * cannot be read, if the path still leads to the mapped file.
 */
#ifndef INS_MODULES_H
#define INS_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/text/error.h"
#include "inspect/elf/image.h"
#include "layout/row.h"

struct ins_module {
	uint64_t start;	    /* address of the first mapping */
	uint64_t first_end; /* end of the first mapping */
	uint64_t end;	    /* end of the last one */
	uint64_t inode;	    /* as in maps, 0: unknown */
	char *path;	    /* as the process sees it, without " (deleted)"; "[vdso]"; "" unknown */
	bool deleted;	    /* maps marks the path as deleted */
	bool other;	    /* its path leads to another file than the mapped one */
	bool denied;	    /* its path leads to a file that we may not read */
	bool unsure;	    /* its file could not be confirmed as the mapped one */

	bool looked;		    /* image and file were tried */
	bool known;		    /* image is valid */
	struct ins_image image;	    /* from memory when possible, else from the file */
	uint64_t bias;		    /* address in the process - p_vaddr in the file */
	char *file;		    /* the path that was opened; NULL: no file fits */
	const unsigned char *bytes; /* the file, mapped read-only; NULL: none */
	size_t bytes_size;
	struct ins_image file_image; /* valid with bytes */
	struct Dwfl_Module *debug;   /* debug.c's: NULL if not reported, or if that failed */
	bool reported;		     /* debug.c's */
};

struct ins_modules {
	struct ins_module *at; /* by ascending start */
	size_t count;
	pid_t pid; /* a live process, for /proc/PID/root, exe, map_files; 0: none */
	struct ins_machine machine; /* of all modules; at first this one */
	fib_read_fn *read;	    /* the source's memory, NULL: none */
	void *reader;
	struct ins_problems *problems; /* where missing or wrong files are reported */
	struct Dwfl *debug;	       /* debug.c's */
	uint64_t registry; /* address of the fiber registry, once it was found (registry.h) */
	int vdso;	   /* owned: the file to use for "[vdso]" of another machine; -1: none */
};

/* Create an empty list. All arguments are borrowed and must outlive it. -ENOMEM. */
int ins_modules_new(pid_t pid, fib_read_fn *read, void *reader, struct ins_problems *problems,
		    struct ins_modules **ret);
void ins_modules_free(struct ins_modules *modules);

/* Add the mappings in the text of /proc/PID/maps; invalid lines are skipped. -ENOMEM. */
int ins_modules_parse_maps(struct ins_modules *modules, const char *text, size_t size);

/* Add one mapping of a file; adjacent calls with the same path and ascending addresses become one
 * module. offset is in the file. -ENOMEM. */
int ins_modules_add(struct ins_modules *modules, uint64_t start, uint64_t end, uint64_t offset,
		    uint64_t inode, const char *path);

/* Sort after the last add and before the first lookup. */
void ins_modules_sort(struct ins_modules *modules);

/* How many of the first `count` modules, which are sorted, start at or below that address. */
size_t ins_modules_below(const struct ins_modules *modules, size_t count, uint64_t address);

/*
 * The module that has address, examined (image, file), or NULL. A file that could not be confirmed
 * is reported as a problem here, where it is used.
 */
struct ins_module *ins_modules_find(struct ins_modules *modules, uint64_t address);

/*
 * Examine a module: read its headers, find its file. Idempotent. False: its headers cannot be read.
 */
bool ins_modules_look(struct ins_modules *modules, struct ins_module *module);

/*
 * Use the file at path for the module at address, even if the module's path differs. -EINVAL with
 * error set if it is no ELF file, is of another machine, or has another build-id than the module in
 * memory.
 */
int ins_modules_give(struct ins_modules *modules, struct ins_module *module, const char *path,
		     struct ins_error *error);

/*
 * Add the module of the program whose program headers are at phdr, as the kernel tells each process;
 * the file at path says how long the module is. No effect if it is no ELF file. -ENOMEM.
 */
int ins_modules_place(struct ins_modules *modules, uint64_t phdr, const char *path);

/* The bytes of memory from the file's first byte to the end of its last segment; 0: it is no ELF file. */
uint64_t ins_modules_file_span(const char *path);

/*
 * Copy bytes of [address, address + size) from a module's file. Returns 0 or -EFAULT. writable:
 * also from writable segments, whose bytes are those of the file and not the current ones.
 */
int ins_modules_read(struct ins_modules *modules, uint64_t address, void *buf, size_t size,
		     bool writable);

#endif
