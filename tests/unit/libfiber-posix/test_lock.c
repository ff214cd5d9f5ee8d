/* SPDX-License-Identifier: MIT */
/* test_lock.c - file locks of each kind: fcntl(2), lockf(3), flock(2) */
#include "outcome.h"

#include <sys/file.h>

/* flags: the command. */
static void *do_fcntl(void *arg)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct call *c = arg;

	return outcome(c, fcntl(c->fd, c->flags, &lock));
}

static void *do_lockf(void *arg)
{
	struct call *c = arg;

	return outcome(c, lockf(c->fd, c->flags, (off_t)c->size));
}

static void *do_flock(void *arg)
{
	struct call *c = arg;

	return outcome(c, flock(c->fd, c->flags));
}

static void ofd_lock(int fd, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET};

	assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
}

static void lock_ofd(int fd)
{
	ofd_lock(fd, F_WRLCK);
}

static void unlock_ofd(int fd)
{
	ofd_lock(fd, F_UNLCK);
}

static void lock_flock(int fd)
{
	assert_int_equal(flock(fd, LOCK_EX), 0);
}

static void unlock_flock(int fd)
{
	assert_int_equal(flock(fd, LOCK_UN), 0);
}

/*
 * The other owner of each lock is another open file description of this process. A lock of the
 * process itself would not stop it: those of F_SETLKW and lockf() meet one of a description.
 */
static const struct kind {
	fiber_fn *wait;
	int command;
	void (*lock)(int fd);
	void (*unlock)(int fd);
} kinds[] = {
	{do_fcntl, F_OFD_SETLKW, lock_ofd, unlock_ofd},
	{do_fcntl, F_SETLKW, lock_ofd, unlock_ofd},
	{do_lockf, F_LOCK, lock_ofd, unlock_ofd},
	{do_flock, LOCK_EX, lock_flock, unlock_flock},
	{do_flock, LOCK_SH, lock_flock, unlock_flock},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

/* Open a file twice; the second owns the lock. */
static void open_locked(const struct kind *kind, struct call *c, int *ret_other)
{
	char path[HARNESS_PATH];

	harness_file(path, "lock");
	*c = (struct call){.fd = open(path, O_RDWR | O_CREAT, 0600), .flags = kind->command};
	*ret_other = open(path, O_RDWR);
	assert_true(c->fd >= 0 && *ret_other >= 0);
	kind->lock(*ret_other);
}

static void test_lock_parks_until_the_other_owner_unlocks(void **state)
{
	(void)state;
	for (size_t i = 0; i < KINDS; i++) {
		struct call c;
		struct fiber *f;
		int other;

		open_locked(&kinds[i], &c, &other);
		f = inside_suspended(kinds[i].wait, &c);
		kinds[i].unlock(other);
		assert_int_equal(inside_join(f), 0);
		close(other);
		close(c.fd);
		both_give(kinds[i].wait, &c, -1, EBADF);
	}
}

static void test_cancelled_fiber_stops_waiting_for_a_lock(void **state)
{
	(void)state;
	for (size_t i = 0; i < KINDS; i++) {
		struct call c;
		struct fiber *f;
		int other;

		open_locked(&kinds[i], &c, &other);
		f = inside_suspended(kinds[i].wait, &c);
		fiber_cancel(f);
		assert_int_equal(inside_join_cancelled(f), -1);
		assert_int_equal(c.error, ECANCELED);
		close(other);
		close(c.fd);
	}
}

static void *cancelled_flock(void *arg)
{
	return as_cancelled(do_flock, arg);
}

static void *cancelled_lockf(void *arg)
{
	return as_cancelled(do_lockf, arg);
}

static void test_cancelled_fiber_takes_a_lock_that_is_free(void **state)
{
	struct call c;
	int other;

	(void)state;
	open_locked(&kinds[3], &c, &other);
	unlock_flock(other);
	assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_flock, &c)), 0);
	c.flags = F_LOCK;
	assert_int_equal(inside_join_cancelled(inside_spawn(cancelled_lockf, &c)), 0);
	close(other);
	close(c.fd);
}

static void test_commands_that_do_not_wait_give_what_the_system_gives(void **state)
{
	struct call c;
	int other;

	(void)state;
	open_locked(&kinds[3], &c, &other);
	lock_ofd(other);
	c.flags = LOCK_EX | LOCK_NB;
	both_give(do_flock, &c, -1, EWOULDBLOCK);
	c.flags = LOCK_UN;
	both_give(do_flock, &c, 0, 0);
	c.flags = 0;
	both_give(do_flock, &c, -1, EINVAL);
	c.flags = F_TLOCK;
	both_give(do_lockf, &c, -1, EAGAIN);
	c.flags = F_TEST;
	both_give(do_lockf, &c, -1, EACCES);
	c.flags = F_ULOCK;
	both_give(do_lockf, &c, 0, 0);
	c.flags = 99;
	both_give(do_lockf, &c, -1, EINVAL);
	unlock_ofd(other);
	c.flags = F_TEST;
	both_give(do_lockf, &c, 0, 0);
	close(other);
	close(c.fd);
}

/* Whether another description meets a lock of this byte. */
static bool byte_is_locked(int fd, off_t at)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

	assert_int_equal(fcntl(fd, F_OFD_GETLK, &lock), 0);
	return lock.l_type != F_UNLCK;
}

/* lockf() locks from the file's position: bytes after it, or before it. */
static void test_lockf_locks_the_bytes_that_were_asked_for(void **state)
{
	struct call c;
	int other;

	(void)state;
	open_locked(&kinds[2], &c, &other);
	unlock_ofd(other);
	assert_int_equal(lseek(c.fd, 10, SEEK_SET), 10);
	c.size = 5;
	assert_int_equal(inside(do_lockf, &c), 0);
	assert_false(byte_is_locked(other, 9));
	assert_true(byte_is_locked(other, 10));
	assert_true(byte_is_locked(other, 14));
	assert_false(byte_is_locked(other, 15));
	c.size = (size_t)-3;
	assert_int_equal(inside(do_lockf, &c), 0);
	assert_false(byte_is_locked(other, 6));
	assert_true(byte_is_locked(other, 7));
	close(other);
	close(c.fd);
}

static void test_shared_flocks_are_taken_beside_each_other(void **state)
{
	struct call c;
	int other;

	(void)state;
	open_locked(&kinds[4], &c, &other);
	assert_int_equal(flock(other, LOCK_SH), 0);
	both_give(do_flock, &c, 0, 0);
	close(other);
	close(c.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock_parks_until_the_other_owner_unlocks),
		cmocka_unit_test(test_cancelled_fiber_stops_waiting_for_a_lock),
		cmocka_unit_test(test_cancelled_fiber_takes_a_lock_that_is_free),
		cmocka_unit_test(test_commands_that_do_not_wait_give_what_the_system_gives),
		cmocka_unit_test(test_lockf_locks_the_bytes_that_were_asked_for),
		cmocka_unit_test(test_shared_flocks_are_taken_beside_each_other),
	};

	OUTCOME_MAIN(tests);
}
