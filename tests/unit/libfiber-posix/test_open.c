/* SPDX-License-Identifier: MIT */
/* test_open.c - files open with the flags that were asked for, and FIFOs when the other side is open */
#include "outcome.h"

#include <dirent.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "layout/layout.h"
#include "system/system.h"

/* buf: the path; timeout: the mode. */
static void *do_open(void *arg)
{
	struct call *c = arg;

	return outcome(c, open(c->buf, c->flags, c->timeout));
}

/* fd: the folder. */
static void *do_openat(void *arg)
{
	struct call *c = arg;

	return outcome(c, openat(c->fd, c->buf, c->flags, c->timeout));
}

static void *do_creat(void *arg)
{
	struct call *c = arg;

	return outcome(c, creat(c->buf, (mode_t)c->timeout));
}

static void *do_read(void *arg)
{
	struct call *c = arg;

	return outcome(c, read(c->fd, c->buf, c->size));
}

static void make_file(char *path, const char *name)
{
	const int fd = open(harness_file(path, name), O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, "hello", 5), 5);
	close(fd);
}

static void make_fifo(char *path, const char *name)
{
	unlink(harness_file(path, name));
	assert_int_equal(mkfifo(path, 0600), 0);
}

/* Open in a fiber and in a thread: the descriptors have the same flags and the same file. */
static void both_open(fiber_fn *fn, struct call *c)
{
	const int ours = (int)inside(fn, c), theirs = (int)on_a_thread(fn, c);
	struct stat a, b;

	assert_true(ours >= 0 && theirs >= 0);
	assert_int_equal(fcntl(ours, F_GETFL), fcntl(theirs, F_GETFL));
	assert_int_equal(fcntl(ours, F_GETFD), fcntl(theirs, F_GETFD));
	assert_int_equal(fstat(ours, &a), 0);
	assert_int_equal(fstat(theirs, &b), 0);
	assert_int_equal(a.st_mode, b.st_mode);
	if (c->flags & O_TMPFILE) {
		close(ours);
		close(theirs);
		return;
	}
	assert_int_equal(a.st_ino, b.st_ino);
	assert_int_equal(a.st_size, b.st_size);
	close(ours);
	close(theirs);
}

static void test_files_open_with_the_flags_that_were_asked_for(void **state)
{
	static const int flags[] = {O_RDONLY,
				    O_WRONLY | O_APPEND,
				    O_RDWR | O_CLOEXEC,
				    O_RDONLY | O_NONBLOCK,
				    O_PATH | O_CLOEXEC,
				    O_RDWR | O_SYNC,
				    O_RDONLY | O_NOFOLLOW | O_NOATIME,
				    O_RDWR | O_CREAT,
				    O_RDWR | O_TRUNC,
				    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC};
	char path[HARNESS_PATH];
	struct call c = {.buf = path, .timeout = 0600};

	(void)state;
	make_file(path, "file");
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		c.flags = flags[i];
		both_open(do_open, &c);
	}
	both_open(do_creat, &c);
	c.buf = "/dev/null";
	c.flags = O_RDWR;
	both_open(do_open, &c);
	c.buf = (void *)(uintptr_t)harness_folder();
	c.flags = O_RDONLY | O_DIRECTORY;
	both_open(do_open, &c);
	c.flags = O_RDWR | O_TMPFILE;
	both_open(do_open, &c);
}

static void test_openat_opens_relative_to_a_folder(void **state)
{
	char path[HARNESS_PATH];
	struct call c = {.buf = "there", .timeout = 0640};
	struct stat st;
	int fd;

	(void)state;
	c.fd = open(harness_folder(), O_RDONLY | O_DIRECTORY);
	c.flags = O_RDWR | O_CREAT | O_EXCL;
	umask(0);
	fd = (int)inside(do_openat, &c);
	assert_true(fd >= 0);
	assert_int_equal(stat(harness_file(path, "there"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	close(fd);
	both_give(do_openat, &c, -1, EEXIST);
	c.flags = O_RDONLY;
	both_open(do_openat, &c);
	c.buf = "not there";
	both_give(do_openat, &c, -1, ENOENT);
	close(c.fd);
	both_give(do_openat, &c, -1, EBADF);
	c.buf = path;
	both_open(do_openat, &c);
	assert_int_equal(unlink(path), 0);
	c.timeout = 0604;
	fd = (int)inside(do_creat, &c);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0604);
	close(fd);
	umask(022);
}

static void test_open_gives_the_system_s_errors(void **state)
{
	char path[HARNESS_PATH], link[HARNESS_PATH], below[HARNESS_PATH + 8];
	struct call c = {.flags = O_RDONLY, .timeout = 0600};

	(void)state;
	make_file(path, "file");
	snprintf(below, sizeof below, "%s/below", path);
	unlink(harness_file(link, "link"));
	assert_int_equal(symlink(path, link), 0);
	c.buf = "/nowhere/at/all";
	both_give(do_open, &c, -1, ENOENT);
	c.buf = "";
	both_give(do_open, &c, -1, ENOENT);
	/* A sanitizer's own open() reads the path. */
	for (int i = 0; i < 2 && !*harness_sanitizer(); i++) {
		c.buf = i ? (void *)8 : NULL;
		both_give(do_open, &c, -1, EFAULT);
	}
	c.buf = below;
	both_give(do_open, &c, -1, ENOTDIR);
	c.buf = path;
	c.flags = O_RDONLY | O_DIRECTORY;
	both_give(do_open, &c, -1, ENOTDIR);
	c.flags = O_RDWR | O_CREAT | O_EXCL;
	both_give(do_open, &c, -1, EEXIST);
	c.buf = "/nowhere/at/all";
	both_give(do_open, &c, -1, ENOENT);
	both_give(do_creat, &c, -1, ENOENT);
	c.buf = link;
	c.flags = O_RDONLY | O_NOFOLLOW;
	both_give(do_open, &c, -1, ELOOP);
	c.buf = (void *)(uintptr_t)harness_folder();
	c.flags = O_WRONLY;
	both_give(do_open, &c, -1, EISDIR);
}

extern struct fib_layout fiber_registry;

static uint64_t turns(void)
{
	const char *const record = (const char *)fiber_self();

	return *(const uint64_t *)(const void *)(record +
						 fiber_registry.fields[FIB_FIELD_SEQ].offset);
}

/*
 * Whether one of many opens gives ENOTDIR without a wait. The kernel may not see what is in memory if
 * another process renames a file meanwhile.
 */
static void *open_without_a_wait(void *arg)
{
	intptr_t at_once = 0;

	for (int i = 0; i < 100; i++) {
		const uint64_t before = turns();

		if (open(arg, O_RDONLY) != -1 || errno != ENOTDIR)
			return NULL;
		at_once |= turns() == before;
	}
	return (void *)at_once;
}

/* Below a file there is nothing, which the kernel alone does not tell from memory. */
static void test_open_below_a_file_does_not_leave_the_carrier(void **state)
{
	static const char *const names[] = {"file", "fifo", "link"}, *const ends[] = {"/below",
										      "/"};
	const struct open_how how = {.flags = O_PATH, .resolve = 0x20 /* RESOLVE_CACHED */};
	char file[HARNESS_PATH], path[HARNESS_PATH], below[HARNESS_PATH + 8];
	int fd;

	(void)state;
	make_file(file, "file");
	make_fifo(path, "fifo");
	unlink(harness_file(path, "link"));
	assert_int_equal(symlink(file, path), 0);
	fd = (int)syscall(SYS_openat2, AT_FDCWD, file, &how, sizeof how);
	if (fd < 0)
		skip();
	close(fd);
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 2; k++) {
			snprintf(below, sizeof below, "%s%s", harness_file(path, names[i]),
				 ends[k]);
			assert_int_equal(inside(open_without_a_wait, below), 1);
		}
}

static void test_no_free_descriptor_is_emfile(void **state)
{
	char path[HARNESS_PATH];
	struct call c = {.buf = path};
	struct rlimit before, few;
	int last;

	(void)state;
	make_file(path, "file");
	last = dup(0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)last + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(inside(do_open, &c), -1);
	assert_int_equal(c.error, EMFILE);
	/* The look at the path needs no second one. */
	close(last);
	assert_int_equal(inside(do_open, &c), last);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	close(last);
}

static void test_fifo_opens_when_the_other_side_is_opened(void **state)
{
	static const int sides[] = {O_RDONLY, O_WRONLY};
	char path[HARNESS_PATH];

	(void)state;
	make_fifo(path, "fifo");
	for (size_t i = 0; i < 4; i++) {
		struct call c = {.buf = path, .flags = sides[i % 2]}, other = {.buf = path};
		int ours, theirs;
		struct fiber *f;

		other.flags = sides[1 - i % 2];
		f = inside_suspended(do_open, &c);
		theirs = (int)(i < 2 ? on_a_thread(do_open, &other) : inside(do_open, &other));
		ours = (int)inside_join(f);
		assert_true(ours >= 0 && theirs >= 0);
		assert_int_equal(fcntl(ours, F_GETFL) & (O_ACCMODE | O_NONBLOCK), sides[i % 2]);
		assert_int_equal(write(i % 2 ? ours : theirs, "x", 1), 1);
		assert_int_equal(read(i % 2 ? theirs : ours, &(char){0}, 1), 1);
		close(ours);
		close(theirs);
	}
}

static void test_fifo_with_o_nonblock_opens_at_once_or_gives_enxio(void **state)
{
	char path[HARNESS_PATH];
	struct call c = {.buf = path, .flags = O_WRONLY | O_NONBLOCK};

	(void)state;
	make_fifo(path, "fifo");
	both_give(do_open, &c, -1, ENXIO);
	c.flags = O_RDONLY | O_NONBLOCK;
	both_open(do_open, &c);
	c.flags = O_RDWR;
	both_open(do_open, &c);
	c.flags = O_WRONLY | O_CREAT | O_EXCL;
	both_give(do_open, &c, -1, EEXIST);
}

/* More than there are threads, and other calls that need a thread are made meanwhile. */
static void test_many_fifos_that_do_not_open_leave_threads_to_others(void **state)
{
	enum { MANY = 80 };
	static char paths[MANY][HARNESS_PATH];
	static struct call calls[MANY];
	struct call file = {.flags = O_RDWR | O_CREAT, .timeout = 0600};
	struct fiber *f[MANY];
	char name[32], path[HARNESS_PATH];
	int fd;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "fifo.%d", i);
		make_fifo(paths[i], name);
		calls[i] = (struct call){.buf = paths[i], .flags = O_RDONLY};
		f[i] = inside_suspended(do_open, &calls[i]);
	}
	unlink(harness_file(path, "file"));
	file.buf = path;
	fd = (int)inside(do_open, &file);
	assert_true(fd >= 0);
	close(fd);
	file.buf = "/dev/null";
	fd = (int)inside(do_open, &file);
	assert_true(fd >= 0);
	close(fd);
	for (int i = 0; i < MANY; i++) {
		struct call other = {.buf = paths[i], .flags = O_WRONLY};
		const int theirs = (int)inside(do_open, &other), ours = (int)inside_join(f[i]);

		assert_true(ours >= 0 && theirs >= 0);
		close(ours);
		close(theirs);
		unlink(paths[i]);
	}
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static int (*system_openat)(int, const char *, int, ...);
static int begun; /* atomic: calls of openat(2) */

static int counted_openat(int dir, const char *path, int flags, ...)
{
	__atomic_fetch_add(&begun, 1, __ATOMIC_RELEASE);
	return system_openat(dir, path, flags, 0600);
}

static void test_cancelled_fiber_leaves_the_open_and_its_descriptor_is_closed(void **state)
{
	static const int sides[] = {O_WRONLY, O_RDONLY};
	char path[HARNESS_PATH];
	int open_before, other;

	(void)state;
	system_openat = fpx_system.openat;
	fpx_system.openat = counted_openat;
	make_fifo(path, "fifo");
	open_before = count_descriptors();
	for (size_t i = 0; i < 2; i++) {
		struct call c = {.buf = path, .flags = sides[i]};
		struct fiber *f;

		__atomic_store_n(&begun, 0, __ATOMIC_RELAXED);
		f = inside_suspended(do_open, &c);
		/* The thread is in the open, or about to be. */
		while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
			sched_yield();
		fiber_cancel(f);
		assert_int_equal(inside_join_cancelled(f), -1);
		assert_int_equal(c.error, ECANCELED);
	}
	/* The reader that was left behind opens now. */
	other = open(path, O_WRONLY);
	assert_true(other >= 0);
	close(other);
	while (count_descriptors() != open_before)
		sched_yield();
	fpx_system.openat = system_openat;
}

static void *cancelled_open(void *arg)
{
	return as_cancelled(do_open, arg);
}

static void test_cancelled_fiber_opens_files_and_attempts_nothing_that_may_not_end(void **state)
{
	char path[HARNESS_PATH];
	struct call c = {.buf = path, .timeout = 0600};
	int fd;

	(void)state;
	make_file(path, "file");
	for (int i = 0; i < 2; i++) {
		c.flags = i ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY;
		fd = (int)inside_join_cancelled(inside_spawn(cancelled_open, &c));
		assert_true(fd >= 0);
		close(fd);
	}
	make_fifo(path, "fifo");
	for (int i = 0; i < 100; i++) {
		c.flags = i % 2 ? O_RDONLY : O_WRONLY;
		assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_open, &c)), -1);
		assert_int_equal(c.error, ECANCELED);
	}
	/* No thread is in an open of the FIFO. */
	c.flags = O_WRONLY | O_NONBLOCK;
	both_give(do_open, &c, -1, ENXIO);
}

/* The owner of a lease is asked to end it, and the open waits for that. */
static void test_open_of_a_file_that_is_leased_parks(void **state)
{
	char path[HARNESS_PATH];
	struct call c = {.buf = path, .flags = O_RDONLY};
	struct fiber *f;
	int owner, fd;

	(void)state;
	signal(SIGIO, SIG_IGN);
	make_file(path, "file");
	owner = open(path, O_RDWR);
	if (fcntl(owner, F_SETLEASE, F_WRLCK) < 0) {
		close(owner);
		skip();
	}
	f = inside_suspended(do_open, &c);
	assert_int_equal(fcntl(owner, F_SETLEASE, F_UNLCK), 0);
	fd = (int)inside_join(f);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	close(fd);
	close(owner);
}

/* A number that a fiber has waited for comes back as another file. */
static void test_number_that_comes_back_from_open_is_waited_for_again(void **state)
{
	char path[HARNESS_PATH], byte = 0;
	struct call c = {.buf = path, .flags = O_RDWR};
	int fds[2];

	(void)state;
	make_fifo(path, "fifo");
	for (int i = 0; i < 4; i++) {
		struct call reading = {.buf = &byte, .size = 1};
		struct fiber *f;
		int fd;

		assert_int_equal(pipe(fds), 0);
		reading.fd = fds[0];
		f = inside_suspended(do_read, &reading);
		assert_int_equal(write(fds[1], "a", 1), 1);
		assert_int_equal(inside_join(f), 1);
		close(fds[0]);
		fd = (int)(i % 2 ? on_a_thread(do_open, &c) : inside(do_open, &c));
		assert_int_equal(fd, fds[0]);
		f = inside_suspended(do_read, &reading);
		assert_int_equal(write(fd, "z", 1), 1);
		assert_int_equal(inside_join(f), 1);
		assert_int_equal(byte, 'z');
		close(fd);
		close(fds[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_open_with_the_flags_that_were_asked_for),
		cmocka_unit_test(test_openat_opens_relative_to_a_folder),
		cmocka_unit_test(test_open_gives_the_system_s_errors),
		cmocka_unit_test(test_open_below_a_file_does_not_leave_the_carrier),
		cmocka_unit_test(test_no_free_descriptor_is_emfile),
		cmocka_unit_test(test_fifo_opens_when_the_other_side_is_opened),
		cmocka_unit_test(test_fifo_with_o_nonblock_opens_at_once_or_gives_enxio),
		cmocka_unit_test(test_many_fifos_that_do_not_open_leave_threads_to_others),
		cmocka_unit_test(test_cancelled_fiber_leaves_the_open_and_its_descriptor_is_closed),
		cmocka_unit_test(
			test_cancelled_fiber_opens_files_and_attempts_nothing_that_may_not_end),
		cmocka_unit_test(test_open_of_a_file_that_is_leased_parks),
		cmocka_unit_test(test_number_that_comes_back_from_open_is_waited_for_again),
	};

	OUTCOME_MAIN(tests);
}
