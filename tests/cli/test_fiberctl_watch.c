/* SPDX-License-Identifier: MIT */
/* test_fiberctl_watch.c - a command repeated, printed below each other or on a temporary screen */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

#define ENTER "\033[?1049h"
#define LEAVE "\033[?1049l"

static int start(void **state)
{
	(void)state;
	return one_crowd("crowd", "20", NULL);
}

static unsigned times(const char *text, const char *what)
{
	unsigned n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

struct wanted {
	struct harness_process *p;
	const char *what;
	unsigned times;
};

static bool said(void *arg)
{
	const struct wanted *w = arg;

	/* Wait for a line that never comes: this collects the output. */
	harness_wait_line(w->p, "what never comes", 1);
	return w->p->ended || times(w->p->out.bytes, w->what) >= w->times;
}

/* Run `fiberctl watch` with these words and interrupt it once `what` was printed n times. */
static struct harness_process *interrupt_after(const char *what, unsigned n,
					       const char *const words[6])
{
	char program[HARNESS_PATH];
	const char *const argv[] = {harness_program(program, "fiberctl"),
				    "watch",
				    words[0],
				    words[1],
				    words[2],
				    words[3],
				    words[4],
				    words[5],
				    NULL};
	struct wanted wanted = {harness_start(argv, NULL), what, n};

	assert_true(harness_until(said, &wanted, CLI_SECONDS));
	assert_false(wanted.p->ended);
	assert_int_equal(kill(wanted.p->pid, SIGINT), 0);
	assert_true(harness_wait_end(wanted.p, CLI_SECONDS));
	return wanted.p;
}

static void test_watch_repeats_a_command_below_itself_until_interrupted(void **state)
{
	struct harness_process *p =
		interrupt_after("20 of 20 fibers", 3, (const char *[6]){"-n", "0.05", "list", pid});

	(void)state;
	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	assert_int_equal(strncmp(p->out.bytes, "        ID STATE", 16), 0);
	assert_true(times(p->out.bytes, "\n--- 20") >= 2);
	cli_contains(p->out.bytes, ", every 50ms: list ");
	assert_null(strchr(p->out.bytes, '\033'));
	harness_free(p);
}

static void test_watch_takes_n_anywhere_and_passes_the_rest_on(void **state)
{
	const char *const id = cli_number(crowd_find(&crowd, "mutex", "mutex-")->id);
	static const int places[] = {0, 2, 3};
	const char *words[6] = {0};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct harness_process *p;
		const char *const rest[] = {"bt", pid, "--all"};
		size_t n = 0;

		for (int k = 0; k <= 3; k++) {
			if (k == places[i])
				words[n++] = "-n50ms";
			if (k < 3)
				words[n++] = rest[k];
		}
		p = interrupt_after("20 of 20 fibers", 2, words);
		cli_ended(p, 0);
	}
	/* Answers separated only by white space are a stream of JSON. */
	{
		struct harness_process *p =
			interrupt_after("\"complete\":true", 3,
					(const char *[6]){"--json", "show", "-n", "50ms", pid, id});
		const char *at = p->out.bytes;
		json_error_t error;
		unsigned n = 0;

		cli_expect(p, 0);
		while (*at) {
			json_t *answer = json_loads(at, JSON_DISABLE_EOF_CHECK, &error);

			assert_non_null(answer);
			assert_int_equal(json_int(answer, "shown"), 1);
			json_decref(answer);
			at += error.position;
			at += strspn(at, " \n");
			n++;
		}
		assert_true(n >= 3);
		harness_free(p);
	}
}

static void test_watch_without_a_command_is_the_list_of_processes(void **state)
{
	struct harness_process *p = interrupt_after(pid, 2, (const char *[6]){"-n", "50ms"});

	(void)state;
	cli_ended(p, 0);
}

static void test_watch_refuses_what_its_command_would(void **state)
{
	static const struct {
		const char *words[4], *why;
	} wrong[] = {
		{{"nonsense", "1"}, "no such command"},
		{{"list"}, "needs PROCESS"},
		{{"show", "1", "2", "3"}, "too many"},
		{{"show", "1", "2", "--all"}, "--all: does not go"},
		{{"watch", "list", "1"}, "watch itself"},
		{{"-n", "0", "list", "1"}, "at least 10ms"},
		{{"-n", "soon", "list", "1"}, "length of time"},
		{{"slow", "1", "--follow"}, "--follow: cannot be combined with watch"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cli_expect_error(cli_run("fiberctl", "watch", wrong[i].words[0], wrong[i].words[1],
					 wrong[i].words[2], wrong[i].words[3], NULL),
				 64, "fiberctl", wrong[i].why);
}

/* -- on a terminal -- */

struct screen {
	int fd; /* the user's end of the terminal */
	pid_t child;
	char text[1 << 20];
	size_t size;
};

/* The tool leads the session of this terminal, so Ctrl-C reaches it like a job of a shell. */
static void open_screen(struct screen *s, const char *kind, const char *process)
{
	const struct winsize size = {.ws_row = 12, .ws_col = 70};
	char program[HARNESS_PATH], runtime[HARNESS_PATH + 32];

	s->size = 0;
	s->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	assert_true(s->fd >= 0 && !grantpt(s->fd) && !unlockpt(s->fd));
	assert_int_equal(ioctl(s->fd, TIOCSWINSZ, &size), 0);
	snprintf(runtime, sizeof(runtime), "%s", harness_folder());
	harness_program(program, "fiberctl");
	s->child = fork();
	assert_true(s->child >= 0);
	if (s->child)
		return;
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	setenv("TERM", kind, 1);
	setsid();
	{
		const int tty = open(ptsname(s->fd), O_RDWR);

		dup2(tty, 0);
		dup2(tty, 1);
		dup2(tty, 2);
	}
	execl(program, "fiberctl", "watch", "-n", "50ms", "list", process, (char *)NULL);
	_exit(127);
}

/* Collect output until `what` was printed n times or the tool has exited. */
static void watch_screen(struct screen *s, const char *what, unsigned n)
{
	while (times(s->text, what) < n) {
		struct pollfd one = {s->fd, POLLIN, 0};
		ssize_t got;

		assert_int_equal(poll(&one, 1, CLI_SECONDS * 1000), 1);
		got = read(s->fd, s->text + s->size, sizeof(s->text) - s->size - 1);
		if (got <= 0)
			break; /* EIO: the other end is closed */
		s->size += (size_t)got;
		s->text[s->size] = '\0';
	}
}

static int end_of(struct screen *s)
{
	int status;

	watch_screen(s, "what never comes", 1);
	assert_int_equal(waitpid(s->child, &status, 0), s->child);
	close(s->fd);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool same_terminal(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag;
}

static void test_watch_draws_on_a_screen_that_ctrl_c_takes_away(void **state)
{
	static struct screen s;
	struct termios before, after;

	(void)state;
	open_screen(&s, "xterm", pid);
	assert_int_equal(tcgetattr(s.fd, &before), 0);
	watch_screen(&s, ": list ", 3);
	assert_int_equal(write(s.fd, "\003", 1), 1);
	watch_screen(&s, LEAVE, 1);
	assert_int_equal(tcgetattr(s.fd, &after), 0);
	assert_true(same_terminal(&before, &after));
	assert_int_equal(end_of(&s), 0);
	/* The screen was entered once and left once, and cursor and line wrapping are restored;
	 * nothing was drawn below the old contents. */
	assert_int_equal(times(s.text, ENTER), 1);
	assert_int_equal(times(s.text, LEAVE), 1);
	assert_non_null(strstr(strstr(s.text, ENTER), LEAVE));
	assert_true(strrchr(s.text, 'h') > strstr(s.text, "\033[?25l"));
	assert_int_equal(times(s.text, "\033[?25h"), 1);
	cli_contains(strstr(s.text, ENTER), "\033[H");
	/* Twelve lines cannot show twenty fibers. */
	cli_contains(s.text, "more lines than the screen has");
	assert_int_equal(times(s.text, "20 of 20 fibers"), 0);
}

static void test_watch_repeats_below_itself_on_a_terminal_that_has_lines_only(void **state)
{
	static struct screen s;

	(void)state;
	open_screen(&s, "dumb", pid);
	watch_screen(&s, "\n--- ", 2);
	assert_int_equal(write(s.fd, "\003", 1), 1);
	assert_int_equal(end_of(&s), 0);
	assert_int_equal(times(s.text, "\033"), 0);
}

static void test_watch_ends_with_the_commands_exit_status_when_the_process_has_gone(void **state)
{
	static struct screen s;
	struct crowd other = crowd_start(NULL, "crowd", "3", NULL);
	const char *const number = cli_number((uint64_t)other.process->pid);
	struct harness_process *p;
	const char *after;

	(void)state;
	open_screen(&s, "xterm", number);
	watch_screen(&s, ": list ", 2);
	harness_end(other.process);
	assert_int_equal(end_of(&s), 2);
	/* The last message is printed on the normal screen. */
	after = strstr(s.text, LEAVE);
	assert_non_null(after);
	cli_contains(after, "fiberctl: ");
	crowd_end(&other);

	p = cli_run("fiberctl", "watch", "list", number, NULL);
	cli_expect_error(p, 2, "fiberctl", number);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watch_repeats_a_command_below_itself_until_interrupted),
		cmocka_unit_test(test_watch_takes_n_anywhere_and_passes_the_rest_on),
		cmocka_unit_test(test_watch_without_a_command_is_the_list_of_processes),
		cmocka_unit_test(test_watch_refuses_what_its_command_would),
		cmocka_unit_test(test_watch_draws_on_a_screen_that_ctrl_c_takes_away),
		cmocka_unit_test(test_watch_repeats_below_itself_on_a_terminal_that_has_lines_only),
		cmocka_unit_test(
			test_watch_ends_with_the_commands_exit_status_when_the_process_has_gone),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
