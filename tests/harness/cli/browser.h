/* SPDX-License-Identifier: MIT */
/*
 * browser.h - a page in a real browser without a window, with somebody at its mouse
 *
 * Chromium, over the pipe of its DevTools protocol. Everything here asserts with cmocka.
 */
#ifndef HARNESS_CLI_BROWSER_H
#define HARNESS_CLI_BROWSER_H

#include <jansson.h>

#include "tests/harness/cli/cli.h"

struct browser;

/* Open the file at path and wait until `ready`, an expression, is true. */
struct browser *browser_open(const char *path, const char *ready);

/* What an expression is worth; the caller's to json_decref(). */
json_t *browser_value(struct browser *b, const char *expression);
json_int_t browser_number(struct browser *b, const char *expression);
/* The text is valid until the next call. */
const char *browser_text(struct browser *b, const char *expression);

/* The mouse, at a place of the window: turn the wheel, click, drag from there by so much. */
void browser_wheel(struct browser *b, int x, int y, int by);
void browser_click(struct browser *b, int x, int y);
void browser_drag(struct browser *b, int x, int y, int by);

/* Scripts that failed, and what the console was told as an error, so far; requests for anything but the page itself. */
unsigned browser_faults(const struct browser *b);
unsigned browser_requests(const struct browser *b);

void browser_close(struct browser *b);

#endif
