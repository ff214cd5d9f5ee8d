/* SPDX-License-Identifier: MIT */
/* test_select.c - select(2) and pselect(2) in a fiber, as POSIX and Linux say */
#include "outcome.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/select.h>

struct selection {
	int n;
	fd_set *in, *out, *rare;
	struct timeval *timeout;
	int error;
};

static void *do_select(void *arg)
{
	struct selection *s = arg;
	const int rc = select(s->n, s->in, s->out, s->rare, s->timeout);

	s->error = errno;
	return (void *)(intptr_t)rc;
}

static void *pselect_with(struct selection *s, const sigset_t *mask)
{
	const struct timespec t = {s->timeout ? s->timeout->tv_sec : 0,
				   s->timeout ? s->timeout->tv_usec * 1000 : 0};
	const int rc = pselect(s->n, s->in, s->out, s->rare, s->timeout ? &t : NULL, mask);

	s->error = errno;
	return (void *)(intptr_t)rc;
}

static void *do_pselect(void *arg)
{
	return pselect_with(arg, NULL);
}

static void *do_pselect_masked(void *arg)
{
	sigset_t none;

	sigemptyset(&none);
	return pselect_with(arg, &none);
}

static fiber_fn *const selects[] = {do_select, do_pselect, do_pselect_masked};
#define SELECTS (sizeof selects / sizeof selects[0])

static void only(fd_set *set, int fd)
{
	FD_ZERO(set);
	FD_SET(fd, set);
}

static void test_select_parks_and_leaves_the_ready_ones_in_the_sets(void **state)
{
	(void)state;
	for (size_t i = 0; i < SELECTS; i++) {
		struct selection s = {.n = 64};
		fd_set in, out;
		int fds[2], other[2];
		struct fiber *f;

		assert_int_equal(pipe(fds), 0);
		assert_int_equal(pipe(other), 0);
		fill(other[1]);
		only(&in, fds[0]);
		only(&out, other[1]);
		s.in = &in;
		s.out = &out;
		f = inside_suspended(selects[i], &s);
		assert_int_equal(write(fds[1], "x", 1), 1);
		assert_int_equal(inside_join(f), 1);
		assert_true(FD_ISSET(fds[0], &in));
		assert_false(FD_ISSET(other[1], &out));
		for (int k = 0; k < 2; k++) {
			close(fds[k]);
			close(other[k]);
		}
	}
}

static void test_select_counts_a_descriptor_once_for_each_set(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * SELECTS; i++) {
		struct selection s = {.n = 64};
		fd_set in, out, rare;
		int fds[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		assert_int_equal(write(fds[1], "x", 1), 1);
		only(&in, fds[0]);
		only(&out, fds[0]);
		only(&rare, fds[0]);
		s.in = &in;
		s.out = &out;
		s.rare = &rare;
		assert_int_equal(
			i % 2 ? inside(selects[i / 2], &s) : on_a_thread(selects[i / 2], &s), 2);
		assert_true(FD_ISSET(fds[0], &in) && FD_ISSET(fds[0], &out));
		assert_false(FD_ISSET(fds[0], &rare));
		close(fds[0]);
		close(fds[1]);
	}
}

static void test_select_is_0_at_its_time_out_and_empties_the_sets(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * SELECTS; i++) {
		struct timeval t = {0, 20000};
		struct selection s = {.n = 64, .timeout = &t};
		const int64_t began = fiber_now();
		fd_set in;
		int fds[2];

		assert_int_equal(pipe(fds), 0);
		only(&in, fds[0]);
		s.in = &in;
		assert_int_equal(
			i % 2 ? inside(selects[i / 2], &s) : on_a_thread(selects[i / 2], &s), 0);
		assert_true(fiber_now() - began >= 20 * MS);
		assert_false(FD_ISSET(fds[0], &in));
		/* Linux writes what is left, which is nothing. */
		if (i / 2 == 0)
			assert_int_equal(t.tv_sec + t.tv_usec, 0);
		close(fds[0]);
		close(fds[1]);
	}
}

static void test_select_of_a_closed_number_is_ebadf(void **state)
{
	fd_set in;
	int fd = dup(0);

	(void)state;
	close(fd);
	for (size_t i = 0; i < 2 * SELECTS; i++) {
		struct selection s = {.n = 64, .in = &in};

		only(&in, fd);
		assert_int_equal(
			i % 2 ? inside(selects[i / 2], &s) : on_a_thread(selects[i / 2], &s), -1);
		assert_int_equal(s.error, EBADF);
		s.n = -1;
		assert_int_equal(
			i % 2 ? inside(selects[i / 2], &s) : on_a_thread(selects[i / 2], &s), -1);
		assert_int_equal(s.error, EINVAL);
	}
}

/* Programs allocate larger sets by themselves. */
static void test_select_takes_descriptors_above_fd_setsize(void **state)
{
	unsigned long words[2048 / (8 * sizeof(unsigned long))] = {0};
	struct selection s = {.n = 2048, .in = (fd_set *)(void *)words};
	const int high = 1500;
	struct rlimit limit;
	struct fiber *f;
	int fds[2];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur <= 1500) {
		limit.rlim_cur = 2048;
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			skip();
	}
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(dup2(fds[0], high), high);
	words[high / (8 * sizeof words[0])] |= 1UL << (high % (8 * sizeof words[0]));
	f = inside_suspended(do_select, &s);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(inside_join(f), 1);
	close(high);
	close(fds[0]);
	close(fds[1]);
}

static void *selects_now(void *arg)
{
	struct timeval none = {0, 0};
	struct selection *s = arg;
	intptr_t sum = 0;

	s->timeout = &none;
	fiber_cancel(fiber_self());
	for (size_t i = 0; i < SELECTS; i++)
		sum += (intptr_t)selects[i](s);
	return (void *)sum;
}

static void test_select_without_time_does_not_park(void **state)
{
	struct selection s = {.n = 64};
	fd_set in;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	only(&in, fds[0]);
	s.in = &in;
	assert_int_equal(inside_join_cancelled(inside_spawn(selects_now, &s)), 0);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_parks_and_leaves_the_ready_ones_in_the_sets),
		cmocka_unit_test(test_select_counts_a_descriptor_once_for_each_set),
		cmocka_unit_test(test_select_is_0_at_its_time_out_and_empties_the_sets),
		cmocka_unit_test(test_select_of_a_closed_number_is_ebadf),
		cmocka_unit_test(test_select_takes_descriptors_above_fd_setsize),
		cmocka_unit_test(test_select_without_time_does_not_park),
	};

	OUTCOME_MAIN(tests);
}
