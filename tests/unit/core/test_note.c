/* SPDX-License-Identifier: MIT */
/*
 * test_note.c - the registry can be found and read with only the ELF file and the memory
 *
 * The note is read as a foreign tool would: from the program headers in memory, and from the file
 * by readelf, in this static link and in the shared library. The field layout that the registry
 * publishes is compared with a record written through the C struct, each field with its own value.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/record_cache.h"
#include "core/registry.h"
#include "layout/row.h"
#include "os/os.h"
#include "tests/harness/paths.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"

int main(void);

static int setup(void **state)
{
	(void)state;
	return fib_registry_init();
}

#define BIG_ENDIAN_BYTES (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* -- the note -- */

/* Read from the fiber notes of one loaded object where the registry is. */
static void read_notes(const char *at, size_t size, uint64_t *ret, unsigned *count)
{
	const char *end = at + size;

	while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)(const void *)at;
		const char *name = at + sizeof *n;
		const char *description = name + ((n->n_namesz + 3) & ~3u);
		int64_t distance;

		if (n->n_type == FIB_LAYOUT_NOTE_TYPE && n->n_namesz == 6 &&
		    memcmp(name, FIB_LAYOUT_NOTE_NAME, 6) == 0 && n->n_descsz == sizeof distance) {
			memcpy(&distance, description, sizeof distance);
			*ret = (uint64_t)(uintptr_t)description + (uint64_t)distance;
			++*count;
		}
		at = description + ((n->n_descsz + 3) & ~3u);
	}
}

struct found {
	uint64_t registry;
	unsigned count;
};

static int look_into(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct found *found = arg;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			read_notes((const char *)(uintptr_t)(info->dlpi_addr +
							     info->dlpi_phdr[i].p_vaddr),
				   info->dlpi_phdr[i].p_memsz, &found->registry, &found->count);
	return 0;
}

static void test_note_in_memory_leads_to_the_registry(void **state)
{
	struct found found = {0, 0};

	(void)state;
	dl_iterate_phdr(look_into, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.registry, (uintptr_t)&fiber_registry);
	assert_memory_equal((void *)(uintptr_t)found.registry, FIB_LAYOUT_MAGIC, 8);
}

/* readelf's output for a file; the caller frees it. */
static struct harness_process *readelf(const char *option, const char *file)
{
	const char *argv[] = {"readelf", "-W", option, file, NULL};
	struct harness_process *p = harness_run(argv, NULL, 20);

	assert_int_equal(harness_exit_code(p), 0);
	return p;
}

/* readelf shows the three facts itself: the symbol's address, the section's address, its
 * contents. */
static void assert_file_leads_to_registry(const char *file)
{
	struct harness_process *symbols = readelf("-s", file), *sections = readelf("-S", file);
	struct harness_process *notes = readelf("-n", file);
	uint64_t symbol = 0, section = 0, offset, distance;
	unsigned bytes[8] = {0}, i, flags_seen = 0;
	char *line, *save, flags[8] = "";

	for (line = strtok_r(symbols->out.bytes, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (strlen(line) > 15 && !strcmp(line + strlen(line) - 15, " fiber_registry"))
			sscanf(line, "%*s %" SCNx64, &symbol);
	line = strstr(sections->out.bytes, ".note.fiber");
	assert_non_null(line);
	assert_int_equal(sscanf(line, ".note.fiber NOTE %" SCNx64 " %" SCNx64 " %*x %*x %7s",
				&section, &offset, flags),
			 3);
	flags_seen = strcmp(flags, "A") == 0; /* allocated: kept by strip and in cores */
	line = strstr(notes->out.bytes, "Displaying notes found in: .note.fiber");
	assert_non_null(line);
	line = strstr(line, "fiber ");
	assert_non_null(line);
	line = strstr(line, "description data: ");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "description data: %x %x %x %x %x %x %x %x", &bytes[0],
				&bytes[1], &bytes[2], &bytes[3], &bytes[4], &bytes[5], &bytes[6],
				&bytes[7]),
			 8);
	for (distance = 0, i = 8; i-- > 0;)
		distance = distance << 8 | bytes[BIG_ENDIAN_BYTES ? 7 - i : i];
	assert_true(flags_seen);
	assert_true(symbol != 0);
	/* The distance counts from behind a 12-byte header and a 6-byte name padded to 8. */
	assert_true(section + 20 + distance == symbol);
	harness_free(symbols);
	harness_free(sections);
	harness_free(notes);
}

static void test_note_in_the_file_leads_to_the_symbol(void **state)
{
	char self[HARNESS_PATH] = {0};

	(void)state;
	assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
	assert_file_leads_to_registry(self);
}

static void test_note_in_the_shared_library_leads_to_the_exported_symbol(void **state)
{
	char file[HARNESS_PATH + 32];

	(void)state;
	snprintf(file, sizeof file, "%s/lib/libfiber.so.0", harness_build());
	if (access(file, R_OK) != 0) {
		print_message("# %s is not built\n", file);
		skip();
	}
	assert_file_leads_to_registry(file);
}

/* -- the fields -- */

static void test_registry_passes_its_own_check_and_describes_every_field_once(void **state)
{
	static unsigned char taken[sizeof(struct fiber)];
	int i, k;

	(void)state;
	assert_null(fib_layout_check(&fiber_registry));
	assert_int_equal(fiber_registry.field_count, FIB_FIELD_COUNT);
	for (i = 0; i < FIB_FIELD_COUNT; i++) {
		struct fib_layout_field f = fiber_registry.fields[i];

		assert_true(f.size > 0);
		for (k = f.offset; k < f.offset + f.size; k++)
			assert_int_equal(taken[k]++, 0);
	}
	for (; i < FIB_LAYOUT_FIELDS; i++)
		assert_int_equal(fiber_registry.fields[i].size, 0);
}

static void test_registry_names_every_state_and_wait_by_its_number(void **state)
{
	static const struct {
		int number;
		const char *name;
	} states[] = {{FIBER_CREATED, "created"},
		      {FIBER_RUNNABLE, "runnable"},
		      {FIBER_RUNNING, "running"},
		      {FIBER_SUSPENDED, "suspended"},
		      {FIBER_DEAD, "dead"}},
	  waits[] = {{FIB_WAIT_NONE, "none"},	{FIB_WAIT_YIELD, "yield"},
		     {FIB_WAIT_SLEEP, "sleep"}, {FIB_WAIT_PARK, "park"},
		     {FIB_WAIT_JOIN, "join"},	{FIB_WAIT_MUTEX, "mutex"},
		     {FIB_WAIT_COND, "cond"},	{FIB_WAIT_SEM, "sem"},
		     {FIB_WAIT_FD, "fd"},	{FIB_WAIT_PINNED, "pinned"}};
	size_t i;
	unsigned k;

	(void)state;
	assert_int_equal(fiber_registry.state_count, fib_countof(states));
	for (i = 0; i < fib_countof(states); i++)
		assert_string_equal(fiber_registry.state_names[states[i].number], states[i].name);
	assert_int_equal(fiber_registry.wait_count, FIB_WAIT_COUNT);
	for (i = 0; i < fib_countof(waits); i++)
		assert_string_equal(fiber_registry.wait_names[waits[i].number], waits[i].name);
	for (i = 0; i < FIB_WAIT_COUNT; i++) {
		assert_true(fiber_registry.wait_names[i][0] != 0);
		for (k = 0; k < i; k++)
			assert_string_not_equal(fiber_registry.wait_names[i],
						fiber_registry.wait_names[k]);
	}
}

static int read_here(void *reader, uint64_t address, void *buf, size_t size)
{
	(void)reader;
	return fib_os_peek(address, buf, size);
}

static struct fiber *make_record(void *object, enum fib_wait_kind kind)
{
	struct fiber *f;
	unsigned count;

	assert_int_equal(fib_registry_take(1, &f, &count), 0);
	f->context.sp = 0x7010;
	f->context.fp = 0x1002;
	f->context.pc = 0x1003;
	fib_store(&f->seq, 1004);
	fib_store(&f->since, 1005);
	fib_store(&f->state, FIBER_SUSPENDED);
	fib_store(&f->wait_kind, (uint8_t)kind);
	f->flags = FIBER_BOUND;
	f->carrier = 1006;
	f->pins = 1007;
	f->wait_object = (uint64_t)(uintptr_t)object;
	f->wait_arg = 1008;
	f->wait_deadline = 1009;
	f->cpu = 1010;
	f->parent = 1011;
	f->stack.low = (void *)0x7000;
	f->stack.size = 0x100;
	f->spawn_pc = 1012;
	f->fn = (fiber_fn *)1013;
	fiber_set_name(f, "seen from outside");
	strcpy(f->failure, "so it failed");
	fib_record_name(NULL, f);
	return f;
}

static void test_registry_describes_what_the_library_writes(void **state)
{
	struct fiber_mutex mutex = {.name = "cfg"};
	struct fiber *f = make_record(&mutex, FIB_WAIT_MUTEX);
	struct fib_layout_field failure = fiber_registry.fields[FIB_FIELD_FAILURE];
	struct fib_row row;

	(void)state;
	fib_store(&mutex.owner, 88 | FIB_HOLDER_CONTENDED);
	assert_true(fib_row_decode(&fiber_registry, f, (uintptr_t)f, 2005, &row));
	assert_int_equal(row.id, fiber_id(f));
	assert_int_equal(row.sp, 0x7010);
	assert_int_equal(row.fp, 0x1002);
	assert_int_equal(row.pc, 0x1003);
	assert_int_equal(row.seq, 1004);
	assert_int_equal(row.age, 1000);
	assert_int_equal(row.state, FIBER_SUSPENDED);
	assert_int_equal(row.wait_kind, FIB_WAIT_MUTEX);
	assert_int_equal(row.flags, FIBER_BOUND);
	assert_int_equal(row.pins, 1007);
	assert_int_equal(row.wait_object, (uintptr_t)&mutex);
	assert_int_equal(row.wait_arg, 1008);
	assert_int_equal(row.deadline, 1009);
	assert_int_equal(row.cpu, 1010);
	assert_int_equal(row.parent, 1011);
	assert_int_equal(row.stack_low, 0x7000);
	assert_int_equal(row.stack_size, 0x100);
	assert_int_equal(row.stack_used, 0xf0);
	assert_int_equal(row.spawn_pc, 1012);
	assert_int_equal(row.entry, 1013);
	assert_string_equal(row.name, "seen from outside");
	assert_string_equal((char *)f + failure.offset, "so it failed");
	assert_int_equal(fib_row_resolve(&fiber_registry, &row, read_here, NULL), 0);
	assert_string_equal(row.object_name, "cfg");
	assert_int_equal(row.holder, 88);
	fib_store(&f->seq, 1005);
	assert_true(fib_row_decode(&fiber_registry, f, (uintptr_t)f, 2005, &row));
	assert_int_equal(row.carrier, 1006);
	fib_publish(&f->id, 0);
	fib_registry_give(f, f, 1);
}

static void test_registry_describes_every_object_that_has_a_name(void **state)
{
	struct fiber_cond cond = {.name = "not-empty"};
	struct fiber_sem sem = {.name = "slots"};
	struct fiber_rwlock rwlock = {.name = "routes", .owner = 99};
	struct fiber_event event = {.name = "started", .set = 1};
	struct fiber_barrier barrier = {.name = "phase", .count = 5};
	struct fiber_once once = {.name = "tables", .runner = 77};
	struct fiber_waitgroup waitgroup = {.name = "requests", .count = 7};
	const struct {
		void *object;
		enum fib_wait_kind kind;
		const char *name;
		uint64_t holder;
	} all[] = {
		{&cond, FIB_WAIT_COND, cond.name, 0},
		{&sem, FIB_WAIT_SEM, sem.name, 0},
		{&rwlock, FIB_WAIT_RWLOCK_READ, rwlock.name, 99},
		{&rwlock, FIB_WAIT_RWLOCK_WRITE, rwlock.name, 99},
		{&event, FIB_WAIT_EVENT, event.name, 0},
		{&barrier, FIB_WAIT_BARRIER, barrier.name, 0},
		{&once, FIB_WAIT_ONCE, once.name, 77},
		{&waitgroup, FIB_WAIT_WAITGROUP, waitgroup.name, 0},
	};
	struct fib_row row;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof all / sizeof *all; i++) {
		struct fiber *f = make_record(all[i].object, all[i].kind);

		assert_true(fib_row_decode(&fiber_registry, f, (uintptr_t)f, 2005, &row));
		assert_int_equal(fib_row_resolve(&fiber_registry, &row, read_here, NULL), 0);
		assert_string_equal(row.object_name, all[i].name);
		assert_int_equal(row.holder, all[i].holder);
		fib_publish(&f->id, 0);
		fib_registry_give(f, f, 1);
	}
}

static bool is_internal(void (*function)(void))
{
	return fib_layout_is_internal(&fiber_registry, (uintptr_t)function);
}

static void test_registry_publishes_where_the_code_of_the_library_is(void **state)
{
	(void)state;
	assert_true(fib_layout_has_code(&fiber_registry));
	/* Functions of different rooms, one in assembly, and one that the program calls. */
	assert_true(is_internal((void (*)(void))fib_registry_init));
	assert_true(is_internal((void (*)(void))fib_os_peek));
	assert_true(is_internal((void (*)(void))fib_arch_switch));
	assert_true(is_internal((void (*)(void))fiber_set_name));
	/* Functions of the program and of the C library. */
	assert_false(is_internal((void (*)(void))make_record));
	assert_false(is_internal((void (*)(void))main));
	assert_false(is_internal((void (*)(void))abort));
}

static void test_registry_tells_the_clock_and_the_machine(void **state)
{
	const ElfW(Ehdr) *self = NULL;
	char head[sizeof *self];
	FILE *file = fopen("/proc/self/exe", "re");
	int64_t seen;

	(void)state;
	fib_coarse_set(123456789);
	assert_int_equal(fib_os_peek(fiber_registry.clock, &seen, sizeof seen), 0);
	assert_int_equal(seen, 123456789);
	assert_int_equal(fread(head, sizeof head, 1, file), 1);
	fclose(file);
	self = (const ElfW(Ehdr) *)(const void *)head;
	if (fiber_registry.recipe == FIB_RECIPE_NONE)
		assert_int_equal(fiber_registry.machine, EM_NONE);
	else
		assert_int_equal(fiber_registry.machine, self->e_machine);
}

#define NOTE_TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NOTE_TEST(test_note_in_memory_leads_to_the_registry),
		NOTE_TEST(test_note_in_the_file_leads_to_the_symbol),
		NOTE_TEST(test_note_in_the_shared_library_leads_to_the_exported_symbol),
		NOTE_TEST(test_registry_passes_its_own_check_and_describes_every_field_once),
		NOTE_TEST(test_registry_names_every_state_and_wait_by_its_number),
		NOTE_TEST(test_registry_describes_what_the_library_writes),
		NOTE_TEST(test_registry_describes_every_object_that_has_a_name),
		NOTE_TEST(test_registry_publishes_where_the_code_of_the_library_is),
		NOTE_TEST(test_registry_tells_the_clock_and_the_machine),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
