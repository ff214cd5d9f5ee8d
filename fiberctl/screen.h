/* SPDX-License-Identifier: MIT */
/*
 * screen.h - a terminal as lines and keys
 *
 * The only one that knows curses. Between open and close the terminal is in another mode, and nothing else may be written to it;
 * SIGINT, SIGTERM and SIGHUP come as a key then, so that it is always closed. While we are stopped (ctrl-z) it is as it was.
 */
#ifndef FIBERCTL_SCREEN_H
#define FIBERCTL_SCREEN_H

#include <stdint.h>

/* Keys that are no bytes. */
enum ctl_key {
	CTL_KEY_NONE = 0x1000, /* the time is over, or the size has changed */
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

/* TOOL_WELL, or the exit code after a line on stderr: there is no terminal, or it is of a kind that is not known. */
int ctl_screen_open(const char *command);

/* Give the terminal back. When a signal was what ended it, die of that. */
void ctl_screen_close(void);

/* The next key: one byte of text, or an enum ctl_key. Waits up to ns, not at all when that is not positive. */
int ctl_screen_key(int64_t ns);

/* At least 1. */
unsigned ctl_screen_rows(void);
unsigned ctl_screen_columns(void);

/* A picture: begin, its lines from the top down, show. Text is harmless for a terminal (escape.h) and is cut where the screen ends. */
void ctl_screen_begin(void);
void ctl_screen_line(unsigned row, enum ctl_style style, const char *text);
void ctl_screen_show(void);

/* Show everything anew: what is there may have been written over. */
void ctl_screen_again(void);

#endif
