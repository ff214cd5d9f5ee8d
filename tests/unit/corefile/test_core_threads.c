/* SPDX-License-Identifier: MIT */
/* test_core_threads.c - assign the notes of a core to threads: whole, cut and wrong notes */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "inspect/corefile/core_threads.h"
#include "tests/harness/paths.h"

static struct elf_bytes elf;
static char path[HARNESS_PATH], names[256];
static struct ins_error error;
static struct ins_core core;
static struct ins_core_thread *thread;
static size_t count;

/* Notes in the kernel's order: those of the process follow the first thread's status. */
static void make(size_t cut)
{
	struct elf_prstatus status = {.pr_pid = 11, .pr_cursig = SIGSEGV};
	const struct elf_prpsinfo info = {.pr_pid = 11, .pr_fname = "two"};
	const Elf64_auxv_t auxv = {AT_NULL, {0}};
	uint64_t notes;

	elf_start(&elf, ET_CORE);
	notes = elf_append(&elf, NULL, 0);
	elf_note(&elf, "CORE", NT_PRSTATUS, &status, sizeof status);
	elf_note(&elf, "CORE", NT_PRPSINFO, &info, sizeof info);
	elf_note(&elf, "CORE", NT_SIGINFO, "signal", 7);
	elf_note(&elf, "CORE", NT_AUXV, &auxv, sizeof auxv);
	elf_note(&elf, "CORE", NT_FILE, "files", 6);
	elf_note(&elf, "LINUX", NT_X86_XSTATE, "state", 6);
	status.pr_pid = 12;
	status.pr_cursig = 0;
	elf_note(&elf, "LINUX", NT_PRSTATUS, &status, sizeof status); /* not a note of CORE */
	elf_note(&elf, "CORE", NT_PRSTATUS, &status, sizeof status);
	elf_note(&elf, "CORE", NT_FPREGSET, "floats", 7);
	elf_add(&elf, PT_NOTE, notes, 0, elf.size - notes);
	elf_write(&elf, harness_file(path, "core"), elf.size - cut);
	assert_int_equal(ins_core_open(path, &error, &core), 0);
	assert_int_equal(ins_core_threads(&core, &thread, &count), 0);
}

static void done(void)
{
	free(thread);
	ins_core_close(&core);
}

static int note(void *context, const char *name, uint32_t type, const void *contents, size_t size)
{
	char one[32];

	(void)contents;
	snprintf(one, sizeof one, "%s %x %zu;", name, (unsigned)type,
		 type == NT_PRSTATUS ? (size_t)0 : size);
	strcat(names, one);
	return *(int *)context;
}

static void test_notes_belong_to_the_thread_before_them_or_to_the_process(void **state)
{
	int go_on = 0, stop = 5;

	(void)state;
	make(0);
	assert_int_equal(count, 2);
	assert_int_equal(thread[0].tid, 11);
	assert_int_equal(thread[0].signal, SIGSEGV);
	assert_int_equal(thread[1].tid, 12);
	assert_true(ins_core_fatal(thread[0].signal) && !ins_core_fatal(thread[1].signal));
	names[0] = 0;
	assert_int_equal(ins_core_thread_notes(&core, &thread[0], note, &go_on), 0);
	assert_string_equal(names, "CORE 1 0;CORE 53494749 7;LINUX 202 6;LINUX 1 0;");
	names[0] = 0;
	assert_int_equal(ins_core_thread_notes(&core, &thread[1], note, &go_on), 0);
	assert_string_equal(names, "CORE 1 0;CORE 2 7;");
	assert_int_equal(ins_core_thread_notes(&core, &thread[1], note, &stop), 5);
	done();
}

static void test_cut_notes_end_where_the_file_ends(void **state)
{
	size_t cut;
	int go_on = 0;

	(void)state;
	for (cut = 1; cut < 1200; cut += 7) {
		make(cut);
		assert_true(count <= 2);
		for (size_t i = 0; i < count; i++) {
			names[0] = 0;
			assert_true(thread[i].at < thread[i].end);
			ins_core_thread_notes(&core, &thread[i], note, &go_on);
		}
		done();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes_belong_to_the_thread_before_them_or_to_the_process),
		cmocka_unit_test(test_cut_notes_end_where_the_file_ends),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
