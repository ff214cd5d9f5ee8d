/* SPDX-License-Identifier: MIT */
/*
 * cmd_watch.c - run a command again and again
 *
 * -n is the interval at any place; all other words and options belong to the command, at any place.
 * "watch list X --limit 5 -n 1" and "watch -n 1 --limit 5 list X" are the same.
 *
 * Each time the command runs in a child with its output in a pipe. So the screen is drawn at once
 * without flicker, and nothing that a command leaves behind accumulates. On a terminal the
 * alternate screen is used; it is left before the tool ends or stops, for any reason.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "fiberctl/fiberctl.h"
#include "inspect/render/render.h"
#include "inspect/text/duration.h"
#include "inspect/text/escape.h"
#include "tool/command.h"
#include "tool/report.h"
#include "tool/round.h"

#define ENTER "\033[?1049h\033[?25l" /* the other screen, no cursor */
#define LEAVE "\033[?25h\033[?1049l"
#define HOME  "\033[H"
#define REST  "\033[J"	 /* clear what is below */
#define LINE  "\033[K"	 /* clear what is right of it */
#define CUT   "\033[?7l" /* long lines are cut, not wrapped */
#define WRAP  "\033[?7h"

#define DEFAULT INT64_C(2000000000)
#define LEAST	INT64_C(10000000)

struct watch {
	const struct tool_command *command;
	struct tool_arguments arguments; /* of the command */
	int64_t interval;
	bool screen;
	sigset_t old; /* the original signal mask */
	int signals;  /* signalfd */
	int ended_by; /* one of them; 0: none */
	bool again;   /* the screen must be drawn again */
	int errors;   /* with a screen: a file for the command's standard error */
	char *text;   /* of the command */
	size_t size, room;
	int code;
};

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int be_child(struct watch *w, int out)
{
	struct winsize size;
	char number[16];

	sigprocmask(SIG_SETMASK, &w->old, NULL);
	/* Wide output is made for the terminal's width, not for the pipe's. */
	if (w->screen && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) {
		snprintf(number, sizeof number, "%u", (unsigned)size.ws_col);
		setenv("COLUMNS", number, 0);
	}
	if (dup2(out, STDOUT_FILENO) < 0 || (w->screen && dup2(w->errors, STDERR_FILENO) < 0))
		return tool_cannot("standard output: %s", strerror(errno));
	return tool_left_out_code(w->command->run(&w->arguments));
}

/* Ctrl-Z: restore the terminal and stop. The command is stopped too, if it runs. */
static void stop(struct watch *w)
{
	sigset_t set;

	fputs(WRAP LEAVE, stdout);
	fflush(stdout);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* In the background this stops the process again until it owns the terminal. */
	while (tcdrain(STDOUT_FILENO) < 0 && errno == EINTR)
		;
	fputs(ENTER, stdout);
	fflush(stdout);
	w->again = true;
}

/* Take a signal. Returns whether it ends the tool. */
static bool take_signal(struct watch *w)
{
	struct signalfd_siginfo info;

	if (read(w->signals, &info, sizeof info) != (ssize_t)sizeof info)
		return false;
	if (info.ssi_signo == SIGTSTP)
		stop(w);
	else
		w->ended_by = (int)info.ssi_signo;
	return w->ended_by != 0;
}

/* Read more of the command's output. False at its end. */
static bool collect(struct watch *w, int in)
{
	ssize_t n;

	if (w->room - w->size < 4096) {
		char *more = realloc(w->text, w->room + w->room / 2 + (64 << 10));

		if (!more)
			return false;
		w->text = more;
		w->room += w->room / 2 + (64 << 10);
	}
	n = read(in, w->text + w->size, w->room - w->size);
	if (n > 0)
		w->size += (size_t)n;
	return n > 0 || (n < 0 && errno == EINTR);
}

/* Run the command once. False if a signal or an error ended it. */
static bool run_once(struct watch *w)
{
	int pipes[2], status;
	pid_t child;

	w->size = 0;
	fflush(stdout);
	if (w->screen && (ftruncate(w->errors, 0) < 0 || lseek(w->errors, 0, SEEK_SET) < 0))
		return w->code = tool_cannot("watch: %s", strerror(errno)), false;
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return w->code = tool_cannot("watch: %s", strerror(errno)), false;
	child = fork();
	if (child == 0) {
		const int code = be_child(w, pipes[1]);

		fflush(stdout);
		_exit(code);
	}
	close(pipes[1]);
	for (bool more = child > 0; more;) {
		struct pollfd both[2] = {{pipes[0], POLLIN, 0}, {w->signals, POLLIN, 0}};

		if (poll(both, 2, -1) < 0 && errno != EINTR)
			break;
		if (both[1].revents && take_signal(w))
			break;
		more = !both[0].revents || collect(w, pipes[0]);
	}
	close(pipes[0]);
	if (child < 0)
		return w->code = tool_cannot("watch: %s", strerror(errno)), false;
	if (w->ended_by)
		kill(child, SIGTERM);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	w->code = WIFEXITED(status) ? WEXITSTATUS(status) : TOOL_CANNOT;
	/* Ctrl-C goes to both processes, and the child may be faster. */
	if (!w->ended_by && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		w->ended_by = SIGINT;
	return !w->ended_by;
}

/* Print the command's standard error, on the screen or after it is left. */
static void put_errors(struct watch *w, FILE *out)
{
	char text[4096];
	off_t at = 0;
	ssize_t n;

	while (w->screen && (n = pread(w->errors, text, sizeof text, at)) > 0) {
		fwrite(text, 1, (size_t)n, out);
		at += n;
	}
}

static void put_title(const struct watch *w)
{
	char every[32], when[32] = "";
	const time_t seconds = time(NULL);
	struct tm local;
	int i;

	if (localtime_r(&seconds, &local))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
	printf("%s, every %s: %s", when, ins_duration_text(w->interval, every, sizeof every),
	       w->command->name ? w->command->name : "processes");
	for (i = 0; i < w->arguments.words; i++)
		printf(" %s", ins_escape_quoted(w->arguments.word[i], (char[256]){0}, 256));
}

static void draw(struct watch *w)
{
	struct winsize size = {0};
	const char *at = w->text, *end = w->text + w->size, *line;
	unsigned rows, used = 2;

	rows = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 4 ? size.ws_row : 24;
	fputs(CUT HOME, stdout);
	put_title(w);
	fputs(LINE "\n" LINE "\n", stdout);
	for (; at < end && used < rows - 2; at = line + 1, used++) {
		line = memchr(at, '\n', (size_t)(end - at));
		if (!line)
			line = end;
		fwrite(at, 1, (size_t)(line - at), stdout);
		fputs(LINE "\n", stdout);
		if (line == end)
			break;
	}
	fputs(REST, stdout);
	if (at < end && used >= rows - 2)
		fputs("... more lines than the screen has", stdout);
	put_errors(w, stdout);
	fputs(WRAP, stdout);
}

/* Append the output. An empty line is ignored by readers of JSON. */
static void append(struct watch *w, bool first)
{
	if (!first && w->arguments.json) {
		putchar('\n');
	} else if (!first) {
		fputs("--- ", stdout);
		put_title(w);
		putchar('\n');
	}
	fwrite(w->text, 1, w->size, stdout);
}

/*
 * Wait until the interval is over or the screen must be drawn again. False if a signal ends the
 * tool.
 */
static bool rest(struct watch *w, int64_t until)
{
	struct pollfd one = {w->signals, POLLIN, 0};
	int64_t left;

	w->again = false;
	while (!w->again && (left = until - now()) > 0) {
		const struct timespec t = {left / 1000000000, left % 1000000000};

		if (ppoll(&one, 1, &t, NULL) > 0 && take_signal(w))
			return false;
	}
	return true;
}

static void repeat(struct watch *w)
{
	bool first = true, more = true;

	while (more) {
		const int64_t began = now();

		more = run_once(w) && w->code < TOOL_CANNOT;
		if (w->ended_by)
			break;
		if (!w->screen)
			append(w, first);
		else if (more)
			draw(w);
		first = false;
		if (tool_written(TOOL_WELL) != TOOL_WELL)
			break;
		more = more && rest(w, began + w->interval);
	}
}

/* Block the signals that end or stop the tool and read them, so that the screen can be left. */
static int hold_signals(struct watch *w)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (w->screen)
		sigaddset(&set, SIGTSTP);
	if (sigprocmask(SIG_BLOCK, &set, &w->old) < 0)
		return -1;
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	w->errors = w->screen ? memfd_create("errors", MFD_CLOEXEC) : -1;
	return w->signals < 0 || (w->screen && w->errors < 0) ? -1 : 0;
}

static int watch(struct watch *w)
{
	if (hold_signals(w) < 0)
		return tool_cannot("watch: %s", strerror(errno));
	if (w->screen)
		fputs(ENTER, stdout);
	repeat(w);
	if (w->screen) {
		fputs(WRAP LEAVE, stdout);
		fflush(stdout);
		/* The last output would be lost with the screen. */
		if (!w->ended_by) {
			fwrite(w->text, 1, w->code < TOOL_CANNOT ? 0 : w->size, stdout);
			put_errors(w, stderr);
		}
	}
	free(w->text);
	close(w->signals);
	if (w->errors >= 0)
		close(w->errors);
	sigprocmask(SIG_SETMASK, &w->old, NULL);
	if (w->ended_by == SIGINT)
		return tool_written(TOOL_WELL);
	if (w->ended_by)
		raise(w->ended_by);
	return tool_written(w->code);
}

static int run(const struct tool_arguments *arguments)
{
	static const struct tool_command *const processes = &ctl_processes;
	struct watch w = {.arguments = *arguments, .screen = tool_option_terminal()};
	int i;

	if (!tool_option_duration(arguments, TOOL_OPT_INTERVAL, DEFAULT, &w.interval))
		return TOOL_USAGE;
	if (w.interval < LEAST)
		return tool_wrong(&ctl_watch, "--interval %s: at least 10ms",
				  arguments->option[TOOL_OPT_INTERVAL]);
	w.arguments.command = arguments->words ? arguments->word[0] : NULL;
	w.arguments.words = arguments->words ? arguments->words - 1 : 0;
	for (i = 0; i < w.arguments.words; i++)
		w.arguments.word[i] = arguments->word[i + 1];
	w.arguments.given &= ~TOOL_TAKES(TOOL_OPT_INTERVAL);
	w.arguments.option[TOOL_OPT_INTERVAL] = NULL;
	w.command = arguments->words ? tool_command_find(arguments->word[0]) : processes;
	if (!w.command)
		return tool_wrong(NULL, "%s: no such command", arguments->word[0]);
	if (w.command == &ctl_watch)
		return tool_wrong(&ctl_watch, "watch: does not watch itself");
	if (w.arguments.option[TOOL_OPT_FOLLOW])
		return tool_wrong(&ctl_watch, "--follow: cannot be combined with watch");
	i = tool_command_takes(w.command, &w.arguments);
	return i != TOOL_WELL ? i : watch(&w);
}

const struct tool_command ctl_watch = {
	.name = "watch",
	.usage = "COMMAND PROCESS ...",
	.summary = "run a command repeatedly",
	.help = "Runs COMMAND with its arguments and options every 2 seconds, or as -n says,\n"
		"until Ctrl-C. If the command can no longer reach its process, watch exits with\n"
		"the status of the command. On a terminal each output replaces the previous one.\n"
		"Elsewhere a line '--- WHEN' comes before each output, with --json an empty line.\n"
		"-n belongs to watch and every other option to COMMAND, in any position. Without\n"
		"COMMAND: the processes that can be asked.\n",
	.example = "watch -n 1 list httpd --limit 1\n"
		   "        ID STATE          AGE   SWITCHES      STACK  WAIT                ...\n"
		   "         1 suspended    15.6s          4   664/256k  fd 4 read           ...\n"
		   "...\n",
	.least = 0,
	.most = TOOL_WORDS,
	.options = TOOL_TAKES(TOOL_OPT_INTERVAL),
	.passes = true,
	.run = run,
};
