/* SPDX-License-Identifier: MIT */
/*
 * screen.h - a terminal as lines and keys
 *
 * Only this module uses curses. Between open and close the terminal is in another mode and nothing
 * else may write to it. SIGINT, SIGTERM and SIGHUP become a key, so that the terminal is always
 * restored. While stopped (ctrl-z) the terminal is in its normal mode.
 */
#ifndef FIBERCTL_SCREEN_H
#define FIBERCTL_SCREEN_H

#include <stdint.h>

/* Keys that are not bytes. */
enum ctl_key {
	CTL_KEY_NONE = 0x1000, /* timeout, or the size has changed */
	CTL_KEY_END_ALL,       /* a signal, or the terminal is gone */
	CTL_KEY_UP,
	CTL_KEY_DOWN,
	CTL_KEY_PAGE_UP,
	CTL_KEY_PAGE_DOWN,
	CTL_KEY_HOME,
	CTL_KEY_END,
	CTL_KEY_ENTER,
	CTL_KEY_BACKSPACE,
	CTL_KEY_ESCAPE,
	CTL_KEY_OTHER,
};

enum ctl_style { CTL_PLAIN, CTL_BOLD, CTL_MARKED };

/* TOOL_WELL, or the exit code after a line on stderr: no terminal, or an unknown kind. */
int ctl_screen_open(const char *command);

/* Restore the terminal. If a signal ended the screen, die of that signal. */
void ctl_screen_close(void);

/* The next key: a byte of text or an enum ctl_key. Waits up to ns; not at all if ns <= 0. */
int ctl_screen_key(int64_t ns);

/* At least 1. */
unsigned ctl_screen_rows(void);
unsigned ctl_screen_columns(void);

/*
 * A picture: begin, lines from top to bottom, show. Text is safe for a terminal (escape.h) and is
 * cut at the edge of the screen.
 */
void ctl_screen_begin(void);
void ctl_screen_line(unsigned row, enum ctl_style style, const char *text);
void ctl_screen_show(void);

/* Redraw all, because the screen may have been overwritten. */
void ctl_screen_again(void);

#endif
