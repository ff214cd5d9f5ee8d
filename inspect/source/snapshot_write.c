/* SPDX-License-Identifier: MIT */
/*
 * snapshot_write.c - request everything from a process and write a snapshot
 *
 * The answers are written as they come. Those about fibers also pass through the decoder, so that
 * the file has nothing that cannot be read again. Memory use does not depend on the number of
 * fibers.
 *
 * The file is a draft until all of it is on the disk. It holds the contents of the program's
 * stacks, which may include passwords, so only its owner may read it.
 */
#include "inspect/source/snapshot.h"
#include "inspect/source/snapshot_sums.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "inspect/process/silence.h"
#include "inspect/process/threads.h"
#include "inspect/text/atomic_file.h"
#include "inspect/source/frames.h"
#include "inspect/source/snapshot_threads.h"
#include "wire/client.h"
#include "wire/thread.h"

/* A million fibers take two gigabytes. */
#define PIECE ((size_t)32 << 20) /* bytes between two write-outs to disk */

/*
 * The requests, in this order. The refusal of a program that is too old for one of them is kept as
 * its answer.
 */
static const struct fib_wire_id all_fibers = {0};
static const struct fib_wire_policy policy_read = {FIB_WIRE_POLICY_READ};
static const struct fib_wire_watchdog watchdog_read = {FIB_WIRE_WATCHDOG_READ};
static const struct fib_wire_events pinned_waits = {.ring = FIB_WIRE_RING_PINNED, .bare = 1};
static const struct fib_wire_events long_runs = {.ring = FIB_WIRE_RING_SLOW, .bare = 1};
static const struct question {
	enum fib_wire_type type;
	uint32_t section;
	const void *payload;
	size_t size;
} questions[] = {
	/* The first answer: without it the others are useless. */
	{FIB_WIRE_STACK, FIB_WIRE_STACK, &all_fibers, sizeof all_fibers},
	{FIB_WIRE_CARRIERS, FIB_WIRE_CARRIERS, NULL, 0},
	{FIB_WIRE_COUNTERS, FIB_WIRE_COUNTERS, NULL, 0},
	{FIB_WIRE_POLICY, FIB_WIRE_POLICY, &policy_read, sizeof policy_read},
	{FIB_WIRE_WATCHDOG, FIB_WIRE_WATCHDOG, &watchdog_read, sizeof watchdog_read},
	{FIB_WIRE_EVENTS, INS_SNAPSHOT_EVENTS(FIB_WIRE_RING_PINNED), &pinned_waits,
	 sizeof pinned_waits},
	{FIB_WIRE_EVENTS, INS_SNAPSHOT_EVENTS(FIB_WIRE_RING_SLOW), &long_runs, sizeof long_runs},
	{FIB_WIRE_AUDIT, FIB_WIRE_AUDIT, NULL, 0},
};

#define THREADS_MOST 64 /* asked about */

struct writer {
	const char *socket, *path;
	int64_t timeout_ns;
	pid_t peer; /* the process that listens on the socket; 0: unknown yet */
	FILE *out;
	size_t untold; /* bytes written since the last write-out */
	uint32_t sum;  /* of the contents of the section that is being written */
	struct ins_snapshot_sums sums;
	struct ins_source source; /* for the decoder */
	struct ins_frames frames;
	struct ins_summary summary;
	uint64_t thread[THREADS_MOST]; /* that hold something */
	size_t threads;
	struct ins_source *rows;	 /* emits all threads; NULL: they are not written */
	struct ins_snapshot_looks looks; /* at them, before the fibers were read */
	bool cannot;			 /* write them */
	uint32_t count_threads;		 /* of the process, when the fibers were read */
	struct ins_snapshot_taken *taken;
	struct ins_error *error;
};

static int cannot_write(struct writer *w, int rc)
{
	return ins_atomic_file_cannot(w->path, rc, w->error);
}

static int put(struct writer *w, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, w->out) != size)
		return cannot_write(w, errno ? -errno : -EIO);
	w->sum = ins_snapshot_sum(w->sum, bytes, size);
	w->untold += size;
	if (w->untold < PIECE)
		return 0;
	/*
	 * Without this the kernel collects dirty pages and then blocks the writer in the middle of
	 * an answer. This only starts the write-out; if it fails, fsync() still does all of it.
	 */
	w->untold = 0;
	sync_file_range(fileno(w->out), 0, 0, SYNC_FILE_RANGE_WRITE);
	return 0;
}

/* Overwrite bytes at an offset, then return to the end of the file. */
static int put_at(struct writer *w, long offset, const void *bytes, size_t size)
{
	int rc = 0;

	if (fseek(w->out, offset, SEEK_SET) < 0)
		return cannot_write(w, -errno);
	rc = put(w, bytes, size);
	if (rc == 0 && fseek(w->out, 0, SEEK_END) < 0)
		rc = cannot_write(w, -errno);
	return rc;
}

static int begin_section(struct writer *w, uint32_t type, long *ret_at)
{
	const struct ins_snapshot_section section = {INS_SNAPSHOT_SECTION, type, 0};
	int rc;

	*ret_at = ftell(w->out);
	rc = put(w, &section, sizeof section);
	w->sum = 0;
	return rc;
}

static int end_section(struct writer *w, uint32_t type, long at)
{
	struct ins_snapshot_section section = {INS_SNAPSHOT_SECTION, type, 0};

	section.size = (uint64_t)(ftell(w->out) - at) - sizeof section;
	if (!ins_snapshot_sums_add(&w->sums, ins_snapshot_sum(w->sum, &section, sizeof section)))
		return ins_error_set(w->error, -EOVERFLOW, "too many sections");
	return put_at(w, at, &section, sizeof section);
}

static int no_answer(struct writer *w, int rc)
{
	char why[INS_ACCESS_EXPLAIN_SIZE];

	return ins_error_set(w->error, rc, "%s: %s", w->socket,
			     ins_process_silence(w->socket, 0, rc, why, sizeof why));
}

/* Of a fiber, only the thread that it waits for matters here. */
static int note_thread(void *context, const struct ins_fiber *fiber)
{
	const uint64_t holder = fiber->row.holder, tid = holder & ~FIB_HOLDER_THREAD;
	struct writer *w = context;
	size_t i = w->threads;

	if (!(holder & FIB_HOLDER_THREAD))
		return 0;
	while (i && w->thread[i - 1] != tid)
		i--;
	if (!i && w->threads < THREADS_MOST)
		w->thread[w->threads++] = tid;
	return 0;
}

/* Write the frames of an answer up to its last one. */
static int keep_frames(struct writer *w, struct fib_wire_client *client, const struct question *q)
{
	struct fib_wire_header header;
	const void *payload;
	int rc;

	do {
		const uint64_t before = w->frames.news;

		rc = fib_wire_receive(client, &header, &payload);
		if (rc < 0)
			return no_answer(w, rc);
		if (q->type == FIB_WIRE_STACK)
			rc = ins_frames_take(&w->frames, &header, payload, w->error);
		fib_wire_news(client, w->frames.news - before);
		if (rc == 0)
			rc = put(w, &header, sizeof header);
		if (rc == 0)
			rc = put(w, payload, header.length);
	} while (rc == 0 && header.type != FIB_WIRE_END && header.type != FIB_WIRE_ERROR);
	return rc;
}

/*
 * All connections must be to one process: the one that was found, or, if only a path was given, the
 * first one.
 */
static int connect_to(struct writer *w, struct fib_wire_client *client)
{
	int rc = fib_wire_connect(client, w->socket, w->timeout_ns);

	if (rc < 0)
		return rc;
	if (!w->peer)
		w->peer = fib_wire_peer(client);
	if (fib_wire_peer(client) == w->peer)
		return 0;
	fib_wire_disconnect(client);
	return -ESTALE;
}

/* Each request has its own connection: a program that does not know a request closes it. */
static int ask(struct writer *w, const struct question *q)
{
	struct fib_wire_client client;
	long at;
	int rc = connect_to(w, &client);

	if (rc < 0)
		return no_answer(w, rc);
	if (q->type == FIB_WIRE_STACK)
		w->source.modules->pid = fib_wire_peer(&client);
	rc = begin_section(w, q->section, &at);
	if (rc == 0) {
		rc = fib_wire_request(&client, q->type, q->payload, q->size);
		rc = rc < 0 ? no_answer(w, rc) : keep_frames(w, &client, q);
	}
	if (rc == 0)
		rc = end_section(w, q->section, at);
	fib_wire_disconnect(&client);
	return rc;
}

/*
 * Write what the program says of one thread. Returns 1; 0 if the program is too old for the
 * question; or a negative errno.
 */
static int keep_thread(struct writer *w, struct fib_wire_client *client, uint64_t tid)
{
	const struct fib_wire_thread request = {tid};
	struct fib_wire_header header;
	const void *payload;
	int rc = fib_wire_request(client, FIB_WIRE_THREAD, &request, sizeof request), kept = 0;

	while (rc == 0) {
		rc = fib_wire_receive(client, &header, &payload);
		if (rc < 0)
			return no_answer(w, rc);
		if (header.type == FIB_WIRE_END || header.type == FIB_WIRE_ERROR)
			return kept;
		if (header.type != FIB_WIRE_THREAD_IS)
			continue;
		rc = put(w, &header, sizeof header);
		if (rc == 0)
			rc = put(w, payload, header.length);
		kept = 1;
	}
	return rc < 0 ? rc : kept;
}

/* To explain a wait for a lock, the reader also needs to know what the lock's holder does. */
static int put_threads(struct writer *w)
{
	struct fib_wire_client client;
	size_t i;
	long at;
	int rc;

	if (!w->threads)
		return 0;
	rc = connect_to(w, &client);
	if (rc < 0)
		return no_answer(w, rc);
	rc = begin_section(w, INS_SNAPSHOT_THREADS, &at);
	for (i = 0; rc >= 0 && i < w->threads; i++) {
		rc = keep_thread(w, &client, w->thread[i]);
		if (rc == 0)
			break;
	}
	fib_wire_disconnect(&client);
	return rc < 0 ? rc : end_section(w, INS_SNAPSHOT_THREADS, at);
}

static int put_to(void *context, const void *bytes, size_t size)
{
	struct writer *w = context;
	const int rc = put(w, bytes, size);

	w->cannot |= rc < 0;
	return rc;
}

/* Leave out the threads, as with a program that may not be looked into. */
static void leave_rows_out(struct writer *w, int rc)
{
	ins_problems_add(&w->source.problems, "the threads cannot be read: %s", strerror(-rc));
	w->rows = NULL;
}

static void look_at_rows(struct writer *w)
{
	const int rc = ins_snapshot_look(w->rows, &w->looks);

	if (rc < 0)
		leave_rows_out(w, rc);
}

/* Take back the section that is being written from `at` on. Its checksum is added only at its end. */
static int take_back(struct writer *w, long at)
{
	if (fflush(w->out) != 0 || ftruncate(fileno(w->out), at) < 0 ||
	    fseek(w->out, at, SEEK_SET) < 0)
		return cannot_write(w, -errno);
	return 0;
}

static int put_rows(struct writer *w)
{
	long at;
	int rc;

	if (!w->rows || !w->looks.count)
		return 0;
	rc = begin_section(w, INS_SNAPSHOT_THREAD_ROWS, &at);
	if (rc < 0)
		return rc;
	rc = ins_snapshot_put_threads(put_to, w, w->rows, &w->looks);
	if (rc == 0)
		return end_section(w, INS_SNAPSHOT_THREAD_ROWS, at);
	if (w->cannot)
		return rc;
	leave_rows_out(w, rc);
	return take_back(w, at);
}

/*
 * Record the mapped files now: they are still the right ones, and may exist on this machine only.
 */
static int put_files(struct writer *w)
{
	struct ins_modules *modules = w->source.modules;
	size_t i;
	long at;
	int rc = begin_section(w, INS_SNAPSHOT_FILES, &at);

	for (i = 0; rc == 0 && i < modules->count; i++) {
		struct ins_module *m = &modules->at[i];
		struct ins_snapshot_file file = {.start = m->start};

		if (!ins_modules_look(modules, m))
			continue;
		file.bias = m->bias;
		file.type = m->image.type;
		file.machine = m->image.machine.number;
		file.segments = m->image.segments;
		file.build_id_size = m->image.build_id_size;
		memcpy(file.build_id, m->image.build_id, m->image.build_id_size);
		rc = put(w, &file, sizeof file);
		if (rc == 0)
			rc = put(w, m->image.segment, file.segments * sizeof(Elf64_Phdr));
	}
	return rc < 0 ? rc : end_section(w, INS_SNAPSHOT_FILES, at);
}

/* Fibers that read the clock are often found in the vdso. */
static int put_vdso(struct writer *w)
{
	const struct ins_modules *modules = w->source.modules;
	size_t i;
	long at;
	int rc;

	for (i = 0; i < modules->count; i++)
		if (modules->at[i].bytes && strcmp(modules->at[i].path, "[vdso]") == 0)
			break;
	if (i == modules->count)
		return 0;
	rc = begin_section(w, INS_SNAPSHOT_VDSO, &at);
	if (rc == 0)
		rc = put(w, modules->at[i].bytes, modules->at[i].bytes_size);
	return rc < 0 ? rc : end_section(w, INS_SNAPSHOT_VDSO, at);
}

/* The last section. Its size is known, and with it that of the file, which the head has. */
static int put_sums(struct writer *w, const struct ins_snapshot_head *head)
{
	struct ins_snapshot_section section = {INS_SNAPSHOT_SECTION, INS_SNAPSHOT_SUMS, 0};
	int rc;

	w->sums.at[0] = ins_snapshot_sum(0, head, sizeof *head);
	section.size = ins_snapshot_sums_end(&w->sums);
	rc = put(w, &section, sizeof section);
	return rc == 0 ? put(w, w->sums.at, section.size) : rc;
}

static void fill_head(struct writer *w)
{
	struct ins_snapshot_head *h = &w->taken->head;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	memcpy(h->magic, INS_SNAPSHOT_MAGIC, sizeof h->magic);
	h->version = INS_SNAPSHOT_VERSION;
	h->head_size = sizeof *h;
	h->flags = INS_SNAPSHOT_SUMMED;
	h->taken = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	h->machine = ins_machine_self();
	if (gethostname(h->host, sizeof h->host - 1) < 0)
		h->host[0] = 0;
}

/* Write everything. The header is written last: without it the file is no snapshot. */
static int write_all(struct writer *w)
{
	static const struct ins_request request = {.stacks = true};
	static const struct ins_snapshot_head nothing;
	struct ins_snapshot_head *h = &w->taken->head;
	size_t i;
	int rc = put(w, &nothing, sizeof nothing);

	fill_head(w);
	if (w->rows)
		look_at_rows(w);
	ins_snapshot_sums_add(&w->sums, 0); /* the header's, which is known last */
	ins_frames_begin(&w->frames, &request, note_thread, w, &w->summary);
	for (i = 0; rc == 0 && i < sizeof questions / sizeof questions[0]; i++) {
		rc = ask(w, &questions[i]);
		if (!i)
			w->count_threads = ins_threads_count(w->source.modules->pid);
		if (!i && rc == 0)
			rc = put_rows(w);
	}
	if (rc == 0)
		rc = ins_frames_map(&w->frames, w->error);
	if (rc == 0)
		rc = put_threads(w);
	if (rc == 0)
		rc = put_files(w);
	if (rc == 0)
		rc = put_vdso(w);
	if (rc < 0)
		return rc;
	h->size = (uint64_t)ftell(w->out) + sizeof(struct ins_snapshot_section) +
		  (w->sums.count + 1) * sizeof w->sums.at[0];
	h->now = w->frames.now;
	h->threads = w->count_threads;
	h->pid = w->source.pid;
	memcpy(h->name, w->source.name, sizeof h->name);
	w->taken->total = w->summary.total;
	w->taken->shown = w->summary.shown;
	w->taken->sampled_ns = w->summary.sampled_ns;
	rc = put_sums(w, h);
	if (rc == 0)
		rc = put_at(w, 0, h, sizeof *h);
	if (rc == 0 && (fflush(w->out) != 0 || fsync(fileno(w->out)) < 0))
		rc = cannot_write(w, -errno);
	return rc;
}

static int write_atomic(struct writer *w, bool replace)
{
	struct ins_atomic_file atomic_file;
	int rc = ins_atomic_file_begin(&atomic_file, w->path, replace, w->error);

	if (rc < 0)
		return rc;
	w->out = atomic_file.out;
	return ins_atomic_file_end(&atomic_file, write_all(w), w->error);
}

int ins_snapshot_write(const char *socket, pid_t pid, int64_t timeout_ns,
		       struct ins_source *threads, const char *path, bool replace,
		       struct ins_snapshot_taken *ret, struct ins_error *error)
{
	struct writer w = {
		.socket = socket,
		.path = path,
		.timeout_ns = timeout_ns,
		.source = {.kind = "control", .pid = pid},
		.peer = pid,
		.rows = threads,
		.taken = ret,
		.error = error,
	};
	int rc;

	memset(ret, 0, sizeof *ret);
	rc = ins_modules_new(pid, NULL, NULL, &w.source.problems, &w.source.modules);
	if (rc < 0)
		return ins_error_set(error, rc, "out of memory");
	ins_frames_init(&w.frames, &w.source, socket);
	rc = write_atomic(&w, replace);
	ins_snapshot_looks_free(&w.looks);
	ins_frames_free(&w.frames);
	ins_modules_free(w.source.modules);
	ret->problems = w.source.problems;
	return rc;
}
