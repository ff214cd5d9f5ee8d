/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - what a process answered, kept in a file
 *
 * A file is a header, then sections. A section is the answer to one request, frame by frame as it came over the control
 * socket, so that whoever reads an answer reads it from here too; or, once, what is known of the files that the process had
 * mapped, so that on another machine nobody takes another file for them; or, once, the kernel's library, which has none; or,
 * once, where plain threads were that held something.
 * Sections that are not known are skipped; headers grow at their ends only.
 *
 * Numbers are in the byte order of the machine that wrote it, which must be ours.
 */
#ifndef INS_SNAPSHOT_H
#define INS_SNAPSHOT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/text/error.h"
#include "inspect/elf/image.h"
#include "inspect/elf/modules.h"
#include "wire/wire.h"

#define INS_SNAPSHOT_MAGIC   "fiber-snapshot\n"
#define INS_SNAPSHOT_VERSION 1u
#define INS_SNAPSHOT_SECTION 0x74636553u /* "Sect" */

struct ins_snapshot_head {
	char magic[16];
	uint32_t version;
	uint32_t head_size; /* bytes of this struct as it was written */
	uint64_t size;	    /* bytes of the file: fewer are a piece of one */
	int64_t taken;	    /* ns, CLOCK_REALTIME */
	int64_t now;	    /* the process' clock then */
	int32_t pid;
	uint32_t machine; /* ELF e_machine of the tool that wrote it */
	char name[64];	  /* of the program */
	char host[256];
};

struct ins_snapshot_section {
	uint32_t magic;
	uint32_t
		type; /* enum fib_wire_type of the request, INS_SNAPSHOT_EVENTS(), or INS_SNAPSHOT_FILES */
	uint64_t size; /* of what follows, up to the next one */
};

/* Events are asked for ring by ring: the answer about one, an enum fib_wire_ring. It is bare, since who it is and what it
 * has mapped is said with the fibers. */
#define INS_SNAPSHOT_EVENTS(ring) (FIB_WIRE_EVENTS | (uint32_t)(ring) << 8)

/* Any number of struct ins_snapshot_file, each with its segments behind it. */
#define INS_SNAPSHOT_FILES 0x10001u
struct ins_snapshot_file {
	uint64_t start; /* of the module in the process */
	uint64_t bias;
	uint16_t type, machine; /* as in ELF */
	uint32_t segments;	/* Elf64_Phdr */
	uint32_t build_id_size; /* 0: it has none */
	uint32_t unused;
	unsigned char build_id[INS_BUILD_ID_MAX];
};

/* Once: what the process had mapped as "[vdso]", which has no file that another machine could have, too. */
#define INS_SNAPSHOT_VDSO 0x10002u

/* Once: of each plain thread that held what a fiber waited for, the THREAD_IS frame that says where it was, and what of its
 * stack was copied. */
#define INS_SNAPSHOT_THREADS 0x10003u

/* -- reading: snapshot.c -- */

struct ins_snapshot;

/* Whether path is a regular file, so that it can only be meant as a snapshot; whether it begins as one. */
bool ins_snapshot_meant(const char *path);
bool ins_snapshot_begins(const char *path);

/*
 * Open one: all of it is there, each section is made of whole frames and ends with the last one of an answer. What is in
 * the frames is not looked at. 0, or a negative errno with error set.
 */
int ins_snapshot_open(const char *path, struct ins_error *error, struct ins_snapshot **ret);
void ins_snapshot_close(struct ins_snapshot *snapshot); /* NULL: nothing */

/* Its texts end with a NUL. Where it was written with a shorter one, the rest is zero. */
const struct ins_snapshot_head *ins_snapshot_head(const struct ins_snapshot *snapshot);

/* A walk over the frames of one answer. */
struct ins_snapshot_frames {
	const unsigned char *at, *end;
	const unsigned char *held; /* from there on memory holds the file; NULL: it is no file */
};

/* What is said of an answer that it does not have. */
#define INS_SNAPSHOT_LACKS "this snapshot does not have it: the fiberctl that wrote it did not ask"

/* The answer to a request of that type, or INS_SNAPSHOT_EVENTS(). False: it has none. */
bool ins_snapshot_answer(const struct ins_snapshot *snapshot, uint32_t type,
			 struct ins_snapshot_frames *ret);

/* The frames about threads. False: it has none, since nobody asked, or no thread held anything. Who walks over them meets
 * what was written, which may be anything. */
bool ins_snapshot_threads(const struct ins_snapshot *snapshot, struct ins_snapshot_frames *ret);

/* The next frame, whose payload is anywhere in memory and lives as long as the snapshot. False after the last. */
bool ins_snapshot_next(struct ins_snapshot_frames *frames, struct fib_wire_header *ret_header,
		       const void **ret_payload);

/* Tell each of the modules, which are sorted, what its file was, where that was written down: another one is then not taken for it. */
void ins_snapshot_files(const struct ins_snapshot *snapshot, struct ins_modules *modules);

/* -- writing: snapshot_write.c -- */

struct ins_snapshot_taken {
	struct ins_snapshot_head head;
	uint64_t total, shown; /* fibers */
	int64_t sampled_ns;
	struct ins_problems problems; /* the caller's to free, also after an error */
};

/*
 * Ask the process behind a control socket for all there is, and write it to path, mode 0600 and under another name until it
 * is whole; replace says whether a file that is there may be replaced. pid is that of the process when it is known, else
 * 0; an answer that does not come within timeout_ns is an error. After an error what was at path is as it was. 0, or a
 * negative errno with error set: -EEXIST, -ENOSPC, ...
 */
int ins_snapshot_write(const char *socket, pid_t pid, int64_t timeout_ns, const char *path,
		       bool replace, struct ins_snapshot_taken *ret, struct ins_error *error);

#endif
