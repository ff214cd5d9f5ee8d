/* SPDX-License-Identifier: MIT */
/*
 * screen.c - a terminal as lines and keys
 *
 * Terminating signals are blocked except while waiting for a key. So none is lost between the check
 * of the flag and the wait, and none interrupts a picture. After the terminal is restored, the
 * signal is raised again with its default action, so that the parent sees the cause of death.
 *
 * Curses handles ctrl-z: it restores the terminal, stops the process, and redraws afterwards. That
 * signal too is only delivered while waiting.
 */
#include "fiberctl/screen.h"

#include <curses.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "fiberctl/fiberctl.h"
#include "tool/report.h"

/* Last include: it defines macros for many words. */
#include <term.h>

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t ended_by;
static sigset_t mask; /* the original mask */
static SCREEN *screen;

static void note(int number)
{
	ended_by = number;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = note};
	sigset_t block;
	size_t i;

	sigemptyset(&block);
	for (i = 0; i < sizeof ending / sizeof ending[0]; i++)
		sigaddset(&block, ending[i]);
	/* Curses handles it; here it must also interrupt the wait for a key. */
	sigaddset(&block, SIGWINCH);
	sigaddset(&block, SIGTSTP);
	sigprocmask(SIG_BLOCK, &block, &mask);
	for (i = 0; i < sizeof ending / sizeof ending[0]; i++)
		sigaction(ending[i], &action, NULL);
}

static void release_signals(void)
{
	size_t i;

	for (i = 0; i < sizeof ending / sizeof ending[0]; i++)
		signal(ending[i], SIG_DFL);
	if (ended_by)
		raise(ended_by);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* Whether that terminal can place text anywhere. newterm() would fail too, but it leaks memory. */
static bool known(const char *kind)
{
	bool moves;
	int why;

	if (!kind || !kind[0] || setupterm(kind, STDOUT_FILENO, &why) == ERR)
		return false;
	moves = cursor_address != NULL;
	del_curterm(cur_term);
	return moves;
}

int ctl_screen_open(const char *command)
{
	const char *kind = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return tool_wrong(NULL, "%s: needs a terminal; --once prints one screen without",
				  command);
	/* Use only the locale's character set; numbers are unchanged. */
	setlocale(LC_CTYPE, "");
	catch_signals();
	if (known(kind))
		screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		release_signals();
		return tool_wrong(NULL,
				  "%s: TERM=%s: this terminal cannot show a screen, or is unknown; "
				  "--once prints one without",
				  command, kind ? kind : "");
	}
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	set_escdelay(25);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	return TOOL_WELL;
}

void ctl_screen_close(void)
{
	endwin();
	delscreen(screen);
	screen = NULL;
	release_signals();
}

static int named(int c)
{
	static const struct {
		int curses, key;
	} keys[] = {
		{KEY_UP, CTL_KEY_UP},	      {KEY_DOWN, CTL_KEY_DOWN},
		{KEY_PPAGE, CTL_KEY_PAGE_UP}, {KEY_NPAGE, CTL_KEY_PAGE_DOWN},
		{KEY_HOME, CTL_KEY_HOME},     {KEY_END, CTL_KEY_END},
		{KEY_ENTER, CTL_KEY_ENTER},   {'\r', CTL_KEY_ENTER},
		{'\n', CTL_KEY_ENTER},	      {KEY_BACKSPACE, CTL_KEY_BACKSPACE},
		{'\b', CTL_KEY_BACKSPACE},    {0x7f, CTL_KEY_BACKSPACE},
		{0x1b, CTL_KEY_ESCAPE},	      {KEY_RESIZE, CTL_KEY_NONE},
	};
	size_t i;

	for (i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (keys[i].curses == c)
			return keys[i].key;
	return c < 0x100 ? c : CTL_KEY_OTHER;
}

int ctl_screen_key(int64_t ns)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	struct timespec wait = {0};
	int c = getch(), n;

	if (c != ERR)
		return named(c);
	if (ns > 0)
		wait = (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
					 .tv_nsec = ns % 1000000000};
	n = ppoll(&in, 1, &wait, &mask);
	if (ended_by)
		return CTL_KEY_END_ALL;
	c = getch();
	if (c != ERR)
		return named(c);
	/* Readable but without a key: the other end of the terminal is closed. */
	return n > 0 ? CTL_KEY_END_ALL : CTL_KEY_NONE;
}

unsigned ctl_screen_rows(void)
{
	return LINES > 0 ? (unsigned)LINES : 1;
}

unsigned ctl_screen_columns(void)
{
	return COLS > 0 ? (unsigned)COLS : 1;
}

void ctl_screen_begin(void)
{
	erase();
}

/*
 * Convert as much of text as fits into the screen's width, as far as the locale can show it.
 * Returns the columns used.
 */
static int fit(const char *text, char *buf, size_t size)
{
	size_t left = strlen(text), used = 0, n;
	mbstate_t state = {0};
	int width, taken = 0;
	wchar_t c;

	while (left && used + MB_LEN_MAX < size) {
		n = mbrtowc(&c, text, left, &state);
		width = n == 0 || n > left ? -1 : wcwidth(c);
		if (taken + (width < 0 ? 1 : width) > COLS)
			break;
		if (width < 0) {
			state = (mbstate_t){0};
			n = 1;
			buf[used++] = '?';
			taken++;
		} else {
			memcpy(buf + used, text, n);
			used += n;
			taken += width;
		}
		text += n;
		left -= n;
	}
	buf[used] = 0;
	return taken;
}

void ctl_screen_line(unsigned row, enum ctl_style style, const char *text)
{
	static const attr_t attribute[] = {
		[CTL_PLAIN] = A_NORMAL, [CTL_BOLD] = A_BOLD, [CTL_MARKED] = A_REVERSE};
	char buf[4096];
	int taken = fit(text, buf, sizeof buf);

	move((int)row, 0);
	clrtoeol();
	attrset((int)attribute[style]);
	addstr(buf);
	for (; style == CTL_MARKED && taken < COLS; taken++)
		addch(' ');
	attrset(A_NORMAL);
}

void ctl_screen_show(void)
{
	refresh();
}

void ctl_screen_again(void)
{
	clearok(curscr, TRUE);
}
