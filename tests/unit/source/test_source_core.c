/* SPDX-License-Identifier: MIT */
/*
 * test_source_core.c - the fibers of a real core, whole and damaged in every way
 *
 * The core is one of crowd, written by the kernel. It is read whole, cut at many lengths, and with
 * damage in data that readers trust: ELF headers, notes, registry, records, stacks. A generator
 * with a fixed seed chooses the damage, so that a failure is reproducible.
 *
 * The result is an error that names the core, or fibers for which missing data is a problem or a
 * truncated walk. It never is a crash, a hang, or a walk called whole that did not arrive.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/source/source.h"
#include "tests/harness/inspect/crowd.h"
#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/corefile/core.h"
#include "inspect/query/group.h"
#include "inspect/render/render.h"
#include "inspect/symbols/symbolize.h"

#define FIBERS "22"
#define COUNT  22

static char core[HARNESS_PATH], spoilt[HARNESS_PATH];
static unsigned char *bytes; /* the damaged core, shared with its file */
static size_t size;
static uint64_t seed;
static FILE *nowhere;

struct reading {
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_walk walk;
	bool named; /* also look up the names of frames */
	unsigned fibers, whole, truncated;
};

static int each(void *context, const struct ins_fiber *fiber)
{
	struct reading *r = context;
	const struct fib_layout *layout = &r->source->layout;
	uint64_t pc;

	ins_unwind(r->unwinder, fiber, &r->walk);
	r->fibers++;
	if (r->walk.truncated) {
		r->truncated++;
		assert_true(r->walk.reason[0] != 0);
	} else if (fib_row_not_started(&fiber->row)) {
		assert_int_equal(r->walk.count, 1);
		assert_int_equal(r->walk.pc[0], fiber->row.entry);
	} else if (r->walk.count) {
		pc = r->walk.pc[r->walk.count - 1] - (r->walk.count > 1);
		assert_true(pc >= layout->entry_low && pc < layout->entry_high);
		r->whole++;
	}
	if (!r->named)
		return 0;
	ins_text_header(nowhere, layout, fiber);
	ins_text_frames(nowhere, r->symbols, &r->walk);
	json_decref(ins_json_fiber(layout, fiber, r->symbols, &r->walk));
	return 0;
}

/*
 * Read a core as fibertrace does. Every fifth reading looks up names, from other files. Returns 0
 * or the error.
 */
static int read_core(const char *path, struct reading *r)
{
	static unsigned readings;
	const struct ins_request request = {.stacks = true, .high_water = true};
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc;

	memset(r, 0, sizeof *r);
	r->named = readings++ % 5 == 0;
	rc = ins_source_open_core(path, NULL, &error, &r->source);
	if (rc < 0) {
		if (!strstr(error.text, path))
			print_error("the core is not named: %s\n", error.text);
		assert_non_null(strstr(error.text, path));
		return rc;
	}
	assert_int_equal(ins_unwinder_new(r->source, &r->unwinder), 0);
	assert_int_equal(ins_symbols_new(r->source->modules, &r->symbols), 0);
	rc = ins_source_read(r->source, &request, each, r, &summary, &error);
	if (rc < 0)
		assert_true(error.text[0] != 0);
	else
		assert_int_equal(summary.shown, r->fibers);
	ins_text_end(nowhere, &summary, &r->source->problems);
	/* A truncated walk always causes a problem. */
	if (rc == 0 && r->truncated)
		assert_true(ins_problems_lines(&r->source->problems) > 0);
	ins_symbols_free(r->symbols);
	ins_unwinder_free(r->unwinder);
	return rc;
}

static int read_and_close(const char *path, struct reading *r)
{
	int rc = read_core(path, r);

	ins_source_close(r->source);
	return rc;
}

static void needs_core(void)
{
	if (!size) {
		print_message("# skipped: the system writes no plain core files\n");
		skip();
	}
}

static void test_a_whole_core_has_every_fiber_and_no_problem(void **state)
{
	struct reading r;

	(void)state;
	needs_core();
	assert_int_equal(read_core(core, &r), 0);
	assert_int_equal(r.fibers, COUNT);
	assert_int_equal(r.whole, COUNT - 2); /* one has exited and one has not started */
	assert_int_equal(r.truncated, 0);
	assert_int_equal(ins_problems_lines(&r.source->problems), 0);
	assert_string_equal(r.source->name, "crowd");
	ins_source_close(r.source);
}

static void test_one_fiber_of_a_core_is_found_or_does_not_exist(void **state)
{
	struct ins_request request = {.id = 5};
	struct ins_error error = {""};
	struct ins_summary summary;
	struct reading r;

	(void)state;
	needs_core();
	memset(&r, 0, sizeof r);
	assert_int_equal(ins_source_open_core(core, NULL, &error, &r.source), 0);
	assert_int_equal(ins_unwinder_new(r.source, &r.unwinder), 0);
	assert_int_equal(ins_symbols_new(r.source->modules, &r.symbols), 0);
	assert_int_equal(ins_source_read(r.source, &request, each, &r, &summary, &error), 0);
	assert_int_equal(summary.shown, 1);
	assert_int_equal(summary.total, COUNT);
	request.id = 999;
	assert_int_equal(ins_source_read(r.source, &request, each, &r, &summary, &error), -ESRCH);
	assert_non_null(strstr(error.text, "fiber 999"));
	ins_symbols_free(r.symbols);
	ins_unwinder_free(r.unwinder);
	ins_source_close(r.source);
}

/* Cut from the longest to the shortest: all over the file, and densely in the headers. */
static void test_a_core_cut_anywhere_is_an_error_or_partial(void **state)
{
	struct reading r;
	size_t cut, i, refused = 0, partial = 0;

	(void)state;
	needs_core();
	for (i = 200; i-- > 0;) {
		cut = i < 150 ? i * 37 : (i - 149) * (size / 52);
		assert_true(cut < size);
		assert_int_equal(truncate(spoilt, (off_t)cut), 0);
		if (read_core(spoilt, &r) < 0) {
			refused++;
		} else {
			partial++;
			assert_true(ins_problems_lines(&r.source->problems) > 0);
		}
		ins_source_close(r.source);
	}
	assert_true(refused > 0);
	assert_true(partial > 0);
}

static void copy_core(void)
{
	const int in = open(core, O_RDONLY), out = open(spoilt, O_RDWR | O_CREAT | O_TRUNC, 0600);
	off_t at = 0, end;

	assert_true(in >= 0 && out >= 0);
	assert_int_equal(ftruncate(out, (off_t)size), 0);
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	while ((at = lseek(in, at, SEEK_DATA)) >= 0) {
		end = lseek(in, at, SEEK_HOLE);
		assert_int_equal(pread(in, bytes + at, (size_t)(end - at), at), end - at);
		at = end;
	}
	close(in);
	close(out);
}

static int start_copy(void **state)
{
	(void)state;
	seed = 20240229;
	if (size)
		copy_core();
	return 0;
}

static int end_copy(void **state)
{
	(void)state;
	if (bytes)
		munmap(bytes, size);
	bytes = NULL;
	return 0;
}

/* The file offset of an address of the process, or 0. */
static size_t file_of(uint64_t address)
{
	struct ins_error error;
	struct ins_core c;
	size_t i, at = 0;

	assert_int_equal(ins_core_open(core, &error, &c), 0);
	for (i = 0; i < c.loads; i++) {
		if (address - c.load[i].address < c.load[i].size)
			at = c.load[i].offset + (address - c.load[i].address);
	}
	ins_core_close(&c);
	return at;
}

/* Damage words in [from, from + length), read the core, restore; `times` times. */
static void spoil(size_t from, size_t length, unsigned times)
{
	static const uint64_t lies[] = {0,	   1,	   UINT64_MAX, INT64_MAX,
					INT64_MIN, 0x1000, UINT32_MAX, UINT64_C(1) << 47};
	unsigned char was[8];
	struct reading r;

	assert_true(from && from + length + 8 <= size);
	while (times--) {
		const size_t at = from + dice(&seed, (unsigned)length);
		uint64_t word = lies[dice(&seed, sizeof lies / sizeof lies[0])];

		memcpy(was, bytes + at, 8);
		if (dice(&seed, 2))
			memcpy(bytes + at, &word, 1u << dice(&seed, 4));
		else
			bytes[at] ^= (unsigned char)(1u << dice(&seed, 8));
		read_and_close(spoilt, &r);
		memcpy(bytes + at, was, 8);
	}
}

static void test_spoilt_headers_and_notes_are_survived(void **state)
{
	(void)state;
	needs_core();
	spoil(1, 4096, 250);
}

static void test_a_spoilt_registry_is_survived(void **state)
{
	struct reading r;
	uint64_t records;
	size_t at;

	(void)state;
	needs_core();
	assert_int_equal(read_core(core, &r), 0);
	records = r.source->layout.records;
	ins_source_close(r.source);
	/* The layout starts with its magic, in writable memory. */
	at = (size_t)((unsigned char *)memmem(bytes, size, FIB_LAYOUT_MAGIC "\1\0\0\0", 12) -
		      bytes);
	assert_true(at < size);
	spoil(at, sizeof(struct fib_layout), 250);
	spoil(file_of(records), COUNT * 512, 250);
}

static void test_spoilt_stacks_never_give_a_whole_walk_that_did_not_arrive(void **state)
{
	struct reading r;
	uint64_t sp;
	size_t at;

	(void)state;
	needs_core();
	assert_int_equal(read_core(core, &r), 0);
	assert_int_equal(r.source->memory(r.source,
					  r.source->layout.records +
						  r.source->layout.fields[FIB_FIELD_SP].offset,
					  &sp, sizeof sp),
			 0);
	ins_source_close(r.source);
	at = file_of(sp);
	spoil(at, 256, 150);
}

static bool is_sleep(pid_t pid)
{
	char name[64], path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	f = fopen(path, "r");
	if (!f || !fgets(name, sizeof name, f))
		name[0] = 0;
	if (f)
		fclose(f);
	return strcmp(name, "sleep\n") == 0;
}

static void test_a_core_of_a_program_without_fibers_is_refused(void **state)
{
	const struct harness_how how = {.folder = harness_folder(), .core = true};
	const char *const argv[] = {"sleep", "100", NULL};
	struct ins_error error = {""};
	struct ins_source *source;
	struct harness_process *p;
	char foreign[HARNESS_PATH];

	(void)state;
	needs_core();
	p = harness_start(argv, &how);
	/* Until the child has called execve(), its core would be one of this test. */
	while (!is_sleep(p->pid))
		usleep(1000);
	assert_true(crowd_core(p, "foreign", foreign));
	harness_free(p);
	assert_int_equal(ins_source_open_core(foreign, NULL, &error, &source), -ENOENT);
	assert_non_null(strstr(error.text, "not a fiber program"));
	/* A core is refused with a program other than the one that ran. */
	assert_int_equal(ins_source_open_core(core, "/bin/sleep", &error, &source), -EINVAL);
	assert_non_null(strstr(error.text, "not the program that ran"));
}

static void test_fibers_of_another_machine_than_the_core_are_refused_by_name(void **state)
{
	struct ins_error error = {""};
	struct ins_source *source;

	(void)state;
	needs_core();
	bytes[18] = EM_S390; /* e_machine, low byte */
	bytes[19] = 0;
	assert_int_equal(ins_source_open_core(spoilt, NULL, &error, &source), -ENODATA);
	assert_non_null(strstr(error.text, "s390"));
	bytes[4] = 1; /* EI_CLASS: 32 bit */
	assert_int_equal(ins_source_open_core(spoilt, NULL, &error, &source), -EINVAL);
	assert_non_null(strstr(error.text, "32-bit"));
}

static int start(void **state)
{
	struct harness_process *p = crowd_begin(NULL, FIBERS);
	struct stat st;

	(void)state;
	nowhere = fopen("/dev/null", "w");
	harness_file(spoilt, "spoilt");
	if (!p || !nowhere)
		return -1;
	if (crowd_core(p, "kept", core) && stat(core, &st) == 0)
		size = (size_t)st.st_size;
	harness_free(p);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	fclose(nowhere);
	return 0;
}

#define COPY_TEST(name) cmocka_unit_test_setup_teardown(name, start_copy, end_copy)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_core_has_every_fiber_and_no_problem),
		cmocka_unit_test(test_one_fiber_of_a_core_is_found_or_does_not_exist),
		cmocka_unit_test(test_a_core_of_a_program_without_fibers_is_refused),
		COPY_TEST(test_fibers_of_another_machine_than_the_core_are_refused_by_name),
		COPY_TEST(test_a_core_cut_anywhere_is_an_error_or_partial),
		COPY_TEST(test_spoilt_headers_and_notes_are_survived),
		COPY_TEST(test_a_spoilt_registry_is_survived),
		COPY_TEST(test_spoilt_stacks_never_give_a_whole_walk_that_did_not_arrive),
	};

	return HEAD_RUN(tests, start, stop);
}
