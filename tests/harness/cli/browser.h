/* SPDX-License-Identifier: MIT */
/*
 * browser.h - a page in a headless browser, with mouse and keyboard
 *
 * Chromium, over the pipe of its DevTools protocol. All functions assert with cmocka.
 */
#ifndef HARNESS_CLI_BROWSER_H
#define HARNESS_CLI_BROWSER_H

#include <jansson.h>

#include "tests/harness/cli/cli.h"

struct browser;

/* Open the file at path, or the address if it begins with http:, and wait until `ready`, an
 * expression, is true. */
struct browser *browser_open(const char *path, const char *ready);

/* Open another address in the same window and wait until `ready` is true. */
void browser_go(struct browser *b, const char *address, const char *ready);

/* Load the page again and wait until `ready` is true. An expression that calls location.reload() may have no
 * answer: the page that owes it is gone. */
void browser_reload(struct browser *b, const char *ready);

/* Wait until an expression is true. */
void browser_wait(struct browser *b, const char *expression);

/* The size of the window in pixels; what the system prefers: "light" or "dark". */
void browser_size(struct browser *b, int width, int height);
void browser_scheme(struct browser *b, const char *scheme);

/* The value of an expression; the caller calls json_decref(). */
json_t *browser_value(struct browser *b, const char *expression);
json_int_t browser_number(struct browser *b, const char *expression);
/* The value of an expression as text, valid until the next call. */
const char *browser_text(struct browser *b, const char *expression);

/* At (x, y) of the window: turn the wheel, click, or drag by a distance. */
void browser_wheel(struct browser *b, int x, int y, int by);
void browser_click(struct browser *b, int x, int y);
void browser_drag(struct browser *b, int x, int y, int by);

/* Press a key: a character, Enter, Escape, ArrowDown, ArrowUp or Tab. Type a text. */
void browser_key(struct browser *b, const char *key);
void browser_type(struct browser *b, const char *text);

/* The number of failed scripts, violations of the page's policy and other console errors so far,
 * without answers with an error status; the number of those; the number of requests for anything
 * but the file, or for another origin than that of the address. */
unsigned browser_faults(const struct browser *b);
unsigned browser_refused(const struct browser *b);
unsigned browser_requests(const struct browser *b);

void browser_close(struct browser *b);

/* Send a command of the DevTools protocol and wait until it is done. Takes ownership of params. */
void browser_tell(struct browser *b, const char *method, json_t *params);

#endif
