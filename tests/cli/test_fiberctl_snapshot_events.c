/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_snapshot_events.c - a snapshot has everything that the program recorded, word by
 * word
 *
 * The fixture hog has had long runs of each kind and pinned waits, and was changed from outside,
 * with success and without. Its watchdog is off when the snapshot is taken, so that no event
 * follows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/source/snapshot.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static struct harness_process *hog;
static char pid[16], file[HARNESS_PATH];

static const char *const commands[] = {"slow", "pinned", "audit", "watchdog", "policy"};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void run(int code, const char *command, const char *process, const char *word)
{
	struct harness_process *p = cli_run("fiberctl", command, process, word, NULL);

	cli_ended(p, code);
}

static int start(void **state)
{
	static const char *const env[] = {"FIBER_CONTROL=admin", NULL};
	const struct harness_how how = {.env = env};
	struct harness_process *p;
	char program[HARNESS_PATH];

	(void)state;
	hog = cli_start(&how, "ready ", harness_plain(program, "hog"), "--spin", "4", "--sleep",
			"3", "--poll", "1", "--pin", "2", NULL);
	snprintf(pid, sizeof(pid), "%d", hog->pid);
	run(0, "policy", pid, "error");
	run(2, "wake", pid, "999999");
	run(0, "watchdog", pid, "off");
	p = cli_run("fiberctl", "snapshot", pid, "-o", harness_file(file, "a.snap"), NULL);
	/* The stack of a running fiber is not kept. */
	assert_in_range(harness_exit_code(p), 0, 1);
	harness_free(p);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	harness_free(hog);
	return 0;
}

static json_t *ask(const char *command, const char *process, const char *source)
{
	struct harness_process *p = cli_run("fiberctl", command, process, "--json", NULL);
	json_t *answer = json_well(p);

	json_promise(answer, command, JSON_ANSWER);
	assert_string_equal(json_text(answer, "source"), source);
	json_object_del(answer, "source");
	json_object_del(answer, "sampledNs");
	json_object_del(answer, "takenNs");
	return answer;
}

static void test_it_has_what_there_is_to_compare(void **state)
{
	json_t *slow = ask("slow", file, "snapshot"), *pinned = ask("pinned", file, "snapshot");
	json_t *audit = ask("audit", file, "snapshot"), *watchdog, *event;
	size_t i;

	(void)state;
	/* Where signals are delayed, computing runs are not detected. */
	assert_true(json_array_size(json_object_get(slow, "sites")) >= 3);
	json_array_foreach (json_object_get(slow, "events"), i, event)
		assert_true(json_int(event, "durationNs") > 0);
	assert_int_equal(json_array_size(json_object_get(pinned, "events")), 2);
	assert_int_equal(json_array_size(json_object_get(audit, "audit")), 3);
	watchdog = ask("watchdog", file, "snapshot");
	assert_int_equal(json_int(json_object_get(watchdog, "watchdog"), "thresholdNs"), 0);
	assert_int_equal(json_int(json_object_get(watchdog, "watchdog"), "events"),
			 json_int(slow, "total"));
	json_decref(slow);
	json_decref(pinned);
	json_decref(audit);
	json_decref(watchdog);
}

static bool ends(const char *key, const char *with)
{
	const size_t size = strlen(key), length = strlen(with);

	return size >= length && strcmp(key + size - length, with) == 0;
}

/* The times are equal, except for the duration of the request and of reading two clocks; ages count
 * from the moment of the snapshot. Remove both. */
static void take_times(json_t *live, json_t *kept)
{
	const char *key;
	json_t *value;
	size_t i;
	void *next;

	json_array_foreach (live, i, value)
		take_times(value, json_array_get(kept, i));
	json_object_foreach_safe(live, next, key, value)
	{
		const json_int_t is = json_integer_value(value);
		const json_int_t was = json_int(kept, key);

		if (ends(key, "allNs")) {
			assert_true(is - was < 10000000000 && was - is < 10000000000);
		} else if (ends(key, "goNs")) {
			assert_true(was >= 0 && was <= is);
		} else {
			take_times(value, json_object_get(kept, key));
			continue;
		}
		/* `live` owns the key: delete it from `kept` first. */
		json_object_del(kept, key);
		json_object_del(live, key);
	}
}

static void test_json_is_that_of_the_process(void **state)
{
	(void)state;
	for (size_t i = 0; i < COMMANDS; i++) {
		json_t *live = ask(commands[i], pid, "control");
		json_t *kept = ask(commands[i], file, "snapshot");

		take_times(live, kept);
		if (!json_equal(live, kept))
			print_error("%s: live:\n%.3000s\nsnapshot:\n%.3000s\n", commands[i],
				    json_dumps(live, JSON_SORT_KEYS),
				    json_dumps(kept, JSON_SORT_KEYS));
		assert_true(json_equal(live, kept));
		json_decref(live);
		json_decref(kept);
	}
}

/* Remove ", 12s ago" and the like. */
static void cut_times(struct harness_process *p)
{
	char *at, *begin;

	while ((at = strstr(p->out.bytes, " ago"))) {
		for (begin = at; begin > p->out.bytes && *begin != ','; begin--)
			;
		memmove(begin, at + 4, strlen(at + 4) + 1);
	}
	p->out.size = strlen(p->out.bytes);
}

/* The text includes names of functions, files and lines. */
static void test_text_is_that_of_the_process_and_says_when_it_was_taken(void **state)
{
	(void)state;
	for (size_t i = 0; i < COMMANDS; i++) {
		struct harness_process *live = cli_run("fiberctl", commands[i], pid, NULL);
		struct harness_process *kept = cli_run("fiberctl", commands[i], file, NULL);
		const char *rest;

		cli_expect(live, 0);
		cli_expect(kept, 0);
		if (strcmp(commands[i], "slow") == 0 || strcmp(commands[i], "pinned") == 0)
			cli_contains(kept->out.bytes, " ago] ");
		cut_times(live);
		cut_times(kept);
		assert_true(kept->out.size > live->out.size);
		if (strncmp(live->out.bytes, kept->out.bytes, live->out.size) != 0)
			print_error("live:\n%s\nsnapshot:\n%s\n", live->out.bytes, kept->out.bytes);
		assert_memory_equal(live->out.bytes, kept->out.bytes, live->out.size);
		rest = kept->out.bytes + live->out.size;
		assert_int_equal(strncmp(rest, "snapshot of ", 12), 0);
		assert_string_equal(strchr(rest, '\n'), "\n");
		harness_free(live);
		harness_free(kept);
	}
}

static void test_nothing_is_changed_or_followed_in_it(void **state)
{
	static const struct {
		const char *command, *word, *what;
	} refused[] = {
		{"slow", "--follow", "nothing comes that could be followed"},
		{"pinned", "--follow", "nothing comes that could be followed"},
		{"watchdog", "5ms", "nothing can be changed in it"},
		{"watchdog", "off", "nothing can be changed in it"},
		{"policy", "warn", "nothing can be changed in it"},
		{"cancel", "7", "nothing can be changed in it"},
		{"wake", "7", "nothing can be changed in it"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct harness_process *p =
			cli_run("fiberctl", refused[i].command, file, refused[i].word, NULL);

		cli_expect(p, 2);
		assert_int_equal(p->out.size, 0);
		cli_contains(p->err.bytes, file);
		cli_contains(p->err.bytes, refused[i].what);
		harness_free(p);
	}
}

/* The sections that an older fiberctl wrote, and the minimum. */
static const uint32_t former[] = {FIB_WIRE_STACK,  FIB_WIRE_CARRIERS,  FIB_WIRE_COUNTERS,
				  FIB_WIRE_POLICY, INS_SNAPSHOT_FILES, 0};
static const uint32_t unsummed[] = {FIB_WIRE_STACK,
				    FIB_WIRE_CARRIERS,
				    FIB_WIRE_COUNTERS,
				    FIB_WIRE_POLICY,
				    FIB_WIRE_WATCHDOG,
				    FIB_WIRE_AUDIT,
				    INS_SNAPSHOT_EVENTS(FIB_WIRE_RING_PINNED),
				    INS_SNAPSHOT_EVENTS(FIB_WIRE_RING_SLOW),
				    INS_SNAPSHOT_FILES,
				    INS_SNAPSHOT_VDSO,
				    INS_SNAPSHOT_THREADS,
				    0};
static const uint32_t least[] = {FIB_WIRE_STACK, INS_SNAPSHOT_FILES, 0};

static bool is_among(const uint32_t *types, uint32_t type)
{
	for (; *types; types++)
		if (*types == type)
			return true;
	return false;
}

/* Copy only those sections. */
static void copy_some(const char *from, const char *to, const uint32_t *types)
{
	static char bytes[1 << 20];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t size = fread(bytes, 1, sizeof(bytes), in), at;
	struct ins_snapshot_head *head = (struct ins_snapshot_head *)bytes;

	assert_in_range(size, 1, sizeof(bytes) - 1);
	assert_int_equal(fwrite(bytes, 1, sizeof(*head), out), sizeof(*head));
	for (at = sizeof(*head); at < size;) {
		struct ins_snapshot_section section;
		size_t all;

		memcpy(&section, bytes + at, sizeof(section));
		all = sizeof(section) + section.size;
		if (is_among(types, section.type))
			assert_int_equal(fwrite(bytes + at, 1, all, out), all);
		at += all;
	}
	head->size = (uint64_t)ftell(out);
	head->flags &= ~INS_SNAPSHOT_SUMMED;
	rewind(out);
	assert_int_equal(fwrite(head, 1, sizeof(*head), out), sizeof(*head));
	fclose(in);
	fclose(out);
}

static void expect_lacking(const char *command, const char *path, const char *what)
{
	struct harness_process *p = cli_run("fiberctl", command, path, NULL);

	cli_expect(p, 2);
	assert_int_equal(p->out.size, 0);
	cli_contains(p->err.bytes, path);
	cli_contains(p->err.bytes, what);
	harness_free(p);
}

static void test_one_of_a_former_version_is_read_and_lacks_them(void **state)
{
	char path[HARNESS_PATH];
	json_t *list;

	(void)state;
	copy_some(file, harness_file(path, "former.snap"), former);
	list = ask("list", path, "snapshot");
	assert_true(json_int(list, "total") >= 8);
	json_decref(list);
	run(0, "policy", path, NULL);
	run(0, "carriers", path, NULL);
	run(0, "metrics", path, NULL);
	for (size_t i = 0; i < COMMANDS - 1; i++)
		expect_lacking(commands[i], path, "this snapshot does not have it");
}

static void test_one_with_fibers_only_lacks_the_rest(void **state)
{
	char path[HARNESS_PATH];

	(void)state;
	copy_some(file, harness_file(path, "least.snap"), least);
	run(0, "list", path, NULL);
	run(0, "deadlock", path, NULL);
	for (size_t i = 0; i < COMMANDS; i++)
		expect_lacking(commands[i], path, "this snapshot does not have it");
	expect_lacking("carriers", path, "this snapshot does not have it");
	expect_lacking("metrics", path, "this snapshot does not have it");
}

/*
 * Change bytes of all parts, in a file without checksums: with them no command would read what
 * follows the change.
 */
static void test_damaged_ones_without_checksums_are_refused_or_read_and_never_crash(void **state)
{
	static char bytes[1 << 20];
	char other[HARNESS_PATH], plain[HARNESS_PATH];
	unsigned refused = 0, tries = 0;
	size_t size;
	FILE *f;

	(void)state;
	copy_some(file, harness_file(plain, "unsummed.snap"), unsummed);
	f = fopen(plain, "r");
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	harness_file(other, "damaged.snap");
	for (size_t at = sizeof(struct ins_snapshot_head); at < size;
	     at += size / 150 + tries % 7) {
		const char *command = commands[tries++ % COMMANDS];
		struct harness_process *p;

		bytes[at] ^= (char)0xa5;
		f = fopen(other, "w");
		assert_int_equal(fwrite(bytes, 1, size, f), size);
		fclose(f);
		bytes[at] ^= (char)0xa5;
		p = cli_run("fiberctl", command, other, tries % 2 ? "--json" : NULL, NULL);
		assert_in_range(harness_exit_code(p), 0, 2);
		if (harness_exit_code(p) == 2)
			cli_contains(p->err.bytes, other);
		refused += harness_exit_code(p) == 2;
		harness_free(p);
	}
	/* A damaged file is refused unless the damage has no effect. */
	assert_in_range(refused, 1, tries - 1);
}

/* Must be the last test: the process has ended. */
static void test_it_answers_when_the_process_has_gone(void **state)
{
	struct harness_process *p;

	(void)state;
	harness_end(hog);
	p = cli_run("fiberctl", "slow", file, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "in system call ");
	cli_contains(p->out.bytes, ": hog_sleep at ");
	harness_free(p);
	p = cli_run("fiberctl", "pinned", file, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "2 times pinned in sleep: hog_pin at ");
	harness_free(p);
	p = cli_run("fiberctl", "audit", file, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "warn -> error");
	cli_contains(p->out.bytes, "20ms -> off");
	cli_contains(p->out.bytes, "3 of 3 changes\n");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_has_what_there_is_to_compare),
		cmocka_unit_test(test_json_is_that_of_the_process),
		cmocka_unit_test(test_text_is_that_of_the_process_and_says_when_it_was_taken),
		cmocka_unit_test(test_nothing_is_changed_or_followed_in_it),
		cmocka_unit_test(test_one_of_a_former_version_is_read_and_lacks_them),
		cmocka_unit_test(test_one_with_fibers_only_lacks_the_rest),
		cmocka_unit_test(
			test_damaged_ones_without_checksums_are_refused_or_read_and_never_crash),
		cmocka_unit_test(test_it_answers_when_the_process_has_gone),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}
