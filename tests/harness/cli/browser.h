/* SPDX-License-Identifier: MIT */
/*
 * browser.h - a page in a headless browser, with mouse input
 *
 * Chromium, over the pipe of its DevTools protocol. All functions assert with cmocka.
 */
#ifndef HARNESS_CLI_BROWSER_H
#define HARNESS_CLI_BROWSER_H

#include <jansson.h>

#include "tests/harness/cli/cli.h"

struct browser;

/* Open the file at path and wait until `ready`, an expression, is true. */
struct browser *browser_open(const char *path, const char *ready);

/* The value of an expression; the caller calls json_decref(). */
json_t *browser_value(struct browser *b, const char *expression);
json_int_t browser_number(struct browser *b, const char *expression);
/* The value of an expression as text, valid until the next call. */
const char *browser_text(struct browser *b, const char *expression);

/* At (x, y) of the window: turn the wheel, click, or drag by a distance. */
void browser_wheel(struct browser *b, int x, int y, int by);
void browser_click(struct browser *b, int x, int y);
void browser_drag(struct browser *b, int x, int y, int by);

/* The number of failed scripts and console errors so far; the number of requests for anything but
 * the page. */
unsigned browser_faults(const struct browser *b);
unsigned browser_requests(const struct browser *b);

void browser_close(struct browser *b);

#endif
