/* SPDX-License-Identifier: MIT */
/*
 * test_vdso_damaged.c - unwind out of a snapshot's vdso, also a hostile or damaged one
 *
 * The vdso is this machine's with another build id, so that the bytes in the snapshot are used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/source/source.h"
#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/render/render_events.h"
#include "inspect/text/read_file.h"
#include "inspect/elf/vdso.h"
#include "tests/harness/inspect/snapshots.h"
#include "inspect/unwind/event_walk.h"

#define DAMAGED 3000
#define EVENTS	6
#define START	UINT64_C(0x7f0000010000)

static char path[HARNESS_PATH];
static struct snapshot_file whole, file;
static size_t vdso_at, vdso_size; /* offset and size in the file */
static uint64_t code, code_size;  /* addresses */
static char *vdso;
static char build_id[INS_BUILD_ID_MAX + 1];
static struct ins_source *source;
static struct ins_unwinder *unwinder;
static struct ins_symbols *symbols;
static struct ins_error error;
static unsigned named; /* walks whose innermost function has a name */

static int read_vdso(void *reader, uint64_t address, void *buf, size_t size)
{
	(void)reader;
	if (address > vdso_size || size > vdso_size - address)
		return -1;
	memcpy(buf, vdso + address, size);
	return 0;
}

/* Read our vdso and change its build id. False: no vdso, or no build id. */
static bool take_vdso(void)
{
	struct ins_image image;
	char name[64], *id;

	if (ins_vdso_path(name, sizeof name) < 0 || ins_read_file(name, &vdso, &vdso_size) < 0)
		return false;
	assert_null(ins_image_read(&image, read_vdso, NULL, 0, false));
	for (unsigned i = 0; i < image.segments; i++)
		if (image.segment[i].p_type == PT_LOAD) {
			code = START + image.segment[i].p_vaddr;
			code_size = image.segment[i].p_filesz;
		}
	id = image.build_id_size ? memmem(vdso, vdso_size, image.build_id, image.build_id_size)
				 : NULL;
	if (!id)
		return false;
	memset(id, 'x', image.build_id_size);
	memset(build_id, 'x', image.build_id_size);
	return true;
}

static void put_event(uint64_t number, uint64_t pc)
{
	struct fib_wire_event e = {
		.number = number,
		.fiber = 7,
		.sp = 0x5000,
		.fp = 0x5010,
		.pc = pc,
		.doing = FIB_WIRE_DOING_COMPUTES,
		.stack_size = 64,
		.stack_all = 64,
		.name = "clock",
	};
	const uint64_t stack[8] = {0x5008, code + 16, 0x5018, code + 32, 0x5028, code + 48, 0, 0};

	snapshot_frame(&whole, FIB_WIRE_EVENT, &e, sizeof e, stack, sizeof stack);
}

/* A snapshot with events all over the vdso's code. */
static void make_whole(void)
{
	char maps[128];

	snapshot_begin(&whole);
	snapshot_section(&whole, FIB_WIRE_STACK);
	snapshot_preface(&whole);
	snprintf(maps, sizeof maps, "7f0000010000-7f0000020000 r-xp 00000000 00:00 0   [vdso]\n");
	snapshot_frame(&whole, FIB_WIRE_MAPS, maps, strlen(maps), "", 0);
	snapshot_end(&whole, 0, 0, 0);
	snapshot_section_end(&whole);
	snapshot_section(&whole, INS_SNAPSHOT_EVENTS(FIB_WIRE_RING_SLOW));
	for (uint64_t i = 0; i < EVENTS; i++)
		put_event(i, code + code_size / 2 + i * code_size / (EVENTS * 2));
	snapshot_end(&whole, EVENTS, EVENTS, 0);
	snapshot_section_end(&whole);
	snapshot_section(&whole, INS_SNAPSHOT_FILES);
	snapshot_module(&whole, START, build_id);
	snapshot_section_end(&whole);
	snapshot_section(&whole, INS_SNAPSHOT_VDSO);
	vdso_at = whole.size;
	snapshot_put(&whole, vdso, vdso_size);
	snapshot_section_end(&whole);
}

static int use(void *context, const struct ins_event *event)
{
	static struct ins_walk walk;
	const struct ins_frame *frame;
	size_t count = 0;

	ins_event_walk(unwinder, event, &walk);
	ins_text_event(context, &source->layout, symbols, event, &walk);
	frame = walk.count ? ins_symbols_at(symbols, walk.pc[0], false, &count) : NULL;
	named += count && frame->function && strncmp(frame->function, "__vdso_", 7) == 0;
	return 0;
}

static void walk_all(FILE *out)
{
	static const struct fib_wire_events request = {.ring = FIB_WIRE_RING_SLOW};
	struct ins_summary summary;

	snapshot_save(&file, path);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), 0);
	assert_int_equal(ins_unwinder_new(source, &unwinder), 0);
	assert_int_equal(ins_symbols_new(source->modules, &symbols), 0);
	rewind(out);
	assert_int_equal(ins_events_read(source, &request, use, out, &summary, &error), 0);
	assert_int_equal(summary.shown, EVENTS);
	ins_symbols_free(symbols);
	ins_unwinder_free(unwinder);
	ins_source_close(source);
}

static void test_functions_of_another_kernels_vdso_are_named(void **state)
{
	FILE *out = fopen("/dev/null", "w");

	(void)state;
	assert_non_null(out);
	if (!vdso)
		skip();
	file = whole;
	named = 0;
	walk_all(out);
	assert_true(named > 0);
	/*
	 * Our own vdso does not name the functions: without the snapshot's bytes none has a name.
	 */
	file.size = vdso_at - sizeof(struct ins_snapshot_section);
	named = 0;
	walk_all(out);
	assert_int_equal(named, 0);
	fclose(out);
}

static void test_damaged_ones_are_walked_out_of_or_not(void **state)
{
	FILE *out = fopen("/dev/null", "w");
	uint64_t seed = 4711;

	(void)state;
	assert_non_null(out);
	if (!vdso)
		skip();
	named = 0;
	for (unsigned i = 0; i < DAMAGED; i++) {
		file = whole;
		for (unsigned n = 1 + dice(&seed, 12); n > 0; n--) {
			/*
			 * Every second time, damage only the headers, tables and notes at the
			 * start.
			 */
			const unsigned room = (unsigned)vdso_size >> (dice(&seed, 2) * 3);

			file.at[vdso_at + dice(&seed, room)] = (unsigned char)dice(&seed, 256);
		}
		walk_all(out);
	}
	/* Both outcomes must be frequent, or the test proves nothing. */
	assert_in_range(named, DAMAGED / 20, DAMAGED * EVENTS - DAMAGED / 20);
	fclose(out);
}

static int start(void **state)
{
	(void)state;
	harness_file(path, "a.snap");
	if (!take_vdso()) {
		free(vdso);
		vdso = NULL;
		return 0;
	}
	make_whole();
	return 0;
}

static int stop(void **state)
{
	(void)state;
	free(vdso);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_of_another_kernels_vdso_are_named),
		cmocka_unit_test(test_damaged_ones_are_walked_out_of_or_not),
	};

	return HEAD_RUN(tests, start, stop);
}
