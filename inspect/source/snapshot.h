/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the answers of a process, kept in a file
 *
 * A file is a header followed by sections. There are five kinds of section:
 * - the answer to one request, with the frames as they came over the control socket, so that the
 *   same decoder reads both;
 * - once: what is known of the files that the process had mapped, so that another machine does not
 *   use different files;
 * - once: the vdso, which has no file;
 * - once: where plain threads were that held something;
 * - once: all threads as rows;
 * - once, the last one: the checksums of all that is before it.
 * Unknown sections are skipped. Headers only grow at their ends. A file of an older version has no
 * checksums, and is read without them; its header says so.
 *
 * Numbers are in the byte order of the machine that wrote the file. A reader with another one converts a copy
 * (snapshot_order.h).
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
	uint32_t head_size; /* bytes of this struct when it was written */
	uint64_t size;	    /* bytes of the file: a shorter file is truncated */
	int64_t taken;	    /* ns, CLOCK_REALTIME */
	int64_t now;	    /* the process' clock at that time */
	int32_t pid;
	uint32_t machine; /* ELF e_machine of the tool that wrote it */
	char name[64];	  /* of the program */
	char host[256];
	uint32_t threads; /* of the process; 0: unknown */
	uint32_t flags;	  /* INS_SNAPSHOT_SUMMED */
};

#define INS_SNAPSHOT_SUMMED 1u /* the last section has checksums */

struct ins_snapshot_section {
	uint32_t magic;
	uint32_t type; /* of the request (enum fib_wire_type), or INS_SNAPSHOT_* */
	uint64_t size; /* of the contents, up to the next section */
};

/*
 * Events are requested ring by ring: the answer about one enum fib_wire_ring. This answer has only
 * events; the process and its mappings come with the fibers.
 */
#define INS_SNAPSHOT_EVENTS(ring) (FIB_WIRE_EVENTS | (uint32_t)(ring) << 8)

/* Any number of struct ins_snapshot_file, each followed by its segments. */
#define INS_SNAPSHOT_FILES 0x10001u
struct ins_snapshot_file {
	uint64_t start; /* of the module in the process */
	uint64_t bias;
	uint16_t type, machine; /* as in ELF */
	uint32_t segments;	/* Elf64_Phdr */
	uint32_t build_id_size; /* 0: none */
	uint32_t unused;
	unsigned char build_id[INS_BUILD_ID_MAX];
};

/*
 * Once: the mapping "[vdso]" of the process. No file holds it, and another machine may have a
 * different one.
 */
#define INS_SNAPSHOT_VDSO 0x10002u

/*
 * Once: for each plain thread that held what a fiber waited for, the THREAD_IS frame that says
 * where the thread was, and the part of its stack that was copied.
 */
#define INS_SNAPSHOT_THREADS 0x10003u

/*
 * Once: the threads of the process as rows beside fibers (FIB_HOLDER_THREAD in their ids), as an
 * answer of STACKS frames and END. The age of a thread that slept in one wait while the fibers were
 * read is that time, else 0. Missing if the writer could not read the process' memory.
 */
#define INS_SNAPSHOT_THREAD_ROWS 0x10004u

/*
 * Once, the last one, if the header says so: uint32_t, the CRC-32 of the header, then of each
 * section before this one in order, of its contents followed by its struct ins_snapshot_section;
 * then the CRC-32 of these numbers (snapshot_sums.h).
 */
#define INS_SNAPSHOT_SUMS 0x10005u

/* -- reading: snapshot.c -- */

struct ins_snapshot;

/*
 * Whether path is a regular file, so that it can only mean a snapshot; whether it starts like a
 * snapshot.
 */
bool ins_snapshot_meant(const char *path);
bool ins_snapshot_begins(const char *path);

/*
 * Open a snapshot and check that it is complete: each section is made of whole frames and ends with
 * the last frame of an answer, and each part has its checksum, if the file has checksums; this reads
 * all of the file. What frames mean is not checked. Returns 0, or a negative errno with error set.
 */
int ins_snapshot_open(const char *path, struct ins_error *error, struct ins_snapshot **ret);
void ins_snapshot_close(struct ins_snapshot *snapshot); /* NULL: no effect */

/* Its strings end with a NUL. If the file has a shorter header, the rest is zero. */
const struct ins_snapshot_head *ins_snapshot_head(const struct ins_snapshot *snapshot);

/* Whether the program's byte order is not this machine's: then the bytes of stacks are in that order. All
 * other numbers have been converted. */
bool ins_snapshot_swapped(const struct ins_snapshot *snapshot);

/* A walk over the frames of one answer. */
struct ins_snapshot_frames {
	const unsigned char *at, *end;
	const unsigned char *held; /* start of the pages in memory; NULL: not a file */
};

/* The message for an answer that the snapshot does not have. */
#define INS_SNAPSHOT_LACKS "this snapshot does not have it: the fiberctl that wrote it did not ask"

/* Find the answer to a request of this type, or INS_SNAPSHOT_EVENTS(). False: there is none. */
bool ins_snapshot_answer(const struct ins_snapshot *snapshot, uint32_t type,
			 struct ins_snapshot_frames *ret);

/*
 * Find the frames about threads. False: there are none, because the writer did not ask or no thread
 * held anything. The contents of these frames are not checked.
 */
bool ins_snapshot_threads(const struct ins_snapshot *snapshot, struct ins_snapshot_frames *ret);

/*
 * Get the next frame. Its payload may be unaligned and lives as long as the snapshot. False after
 * the last frame.
 */
bool ins_snapshot_next(struct ins_snapshot_frames *frames, struct fib_wire_header *ret_header,
		       const void **ret_payload);

/*
 * Set in each of the modules, which are sorted, what its file was, if the snapshot says so. A
 * different file is then not used for it.
 */
void ins_snapshot_files(const struct ins_snapshot *snapshot, struct ins_modules *modules);

/* -- writing: snapshot_write.c -- */

struct ins_source;

struct ins_snapshot_taken {
	struct ins_snapshot_head head;
	uint64_t total, shown; /* fibers */
	int64_t sampled_ns;
	struct ins_problems problems; /* the caller's to free, also after an error */
};

/*
 * Request everything from the process behind a control socket and write it to path with mode 0600.
 * The file has another name until it is complete. replace: an existing file may be replaced. pid:
 * the process, or 0 if unknown.
 *
 * threads: a source of the same process that emits its threads as rows beside fibers, or NULL: then
 * the file has none.
 *
 * An answer that does not come within timeout_ns is an error. After an error path is unchanged.
 * Returns 0, or a negative errno with error set: -EEXIST, -ENOSPC, ...
 */
int ins_snapshot_write(const char *socket, pid_t pid, int64_t timeout_ns,
		       struct ins_source *threads, const char *path, bool replace,
		       struct ins_snapshot_taken *ret, struct ins_error *error);

#endif
