/* SPDX-License-Identifier: MIT */
/* test_close.c - fclose(3) and pclose(3) in a fiber park */
#include "ends.h"

#include <sys/wait.h>

static void *close_out(void *arg)
{
	struct ends *e = arg;

	fputs("left", e->out);
	return (void *)(intptr_t)(fclose(e->out) == 0 ? 0 : errno);
}

TEST(test_fclose_parks_until_a_full_pipe_has_taken_the_rest)
{
	struct fiber *f;
	struct ends e;
	int full;

	open_ends(&e);
	full = fill_pipe(e.fds);
	f = inside_suspended(close_out, &e);
	read_away(e.fds[0], full);
	assert_int_equal(inside_join(f), 0);
	expect_bytes(e.fds[0], "left");
	fclose(e.in);
	/* A cancelled fiber closes the stream, and loses what it holds. */
	open_ends(&e);
	fill(e.fds[1]);
	f = inside_suspended(close_out, &e);
	fiber_cancel(f);
	assert_int_equal(inside_join_cancelled(f), ECANCELED);
	assert_int_equal(fcntl(e.fds[1], F_GETFD), -1);
	fclose(e.in);
}

static void *run_child(void *arg)
{
	const int *go = arg;
	char command[64], line[16] = "";
	FILE *child;

	snprintf(command, sizeof command, "read x </dev/fd/%d; echo \"$x\"; exit 3", go[0]);
	child = popen(command, "r"); /* NOLINT(cert-env33-c): it is the test */
	if (!child || !fgets(line, sizeof line, child) || strcmp(line, "done\n") != 0)
		return NULL;
	return (void *)(intptr_t)WEXITSTATUS(pclose(child));
}

static void *wait_child(void *arg)
{
	const int *go = arg;
	char command[64];
	FILE *child;

	snprintf(command, sizeof command, "exec 1>&-; read x </dev/fd/%d; exit 4", go[0]);
	child = popen(command, "r"); /* NOLINT(cert-env33-c): it is the test */
	return (void *)(intptr_t)(child ? WEXITSTATUS(pclose(child)) : 0);
}

TEST(test_popen_and_pclose_park)
{
	struct fiber *f;
	int go[2];

	assert_int_equal(pipe(go), 0);
	f = inside_suspended(run_child, go);
	assert_int_equal(write(go[1], "done\n", 5), 5);
	assert_int_equal(inside_join(f), 3);
	f = inside_suspended(wait_child, go);
	assert_int_equal(write(go[1], "end\n", 4), 4);
	assert_int_equal(inside_join(f), 4);
	close(go[0]), close(go[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fclose_parks_until_a_full_pipe_has_taken_the_rest),
		cmocka_unit_test(test_popen_and_pclose_park),
	};

	ENDS_MAIN(tests);
}
