/* SPDX-License-Identifier: MIT */
/* calls.h - the system calls that libfiber(7) lists. */
#ifndef HARNESS_CLI_CALLS_H
#define HARNESS_CLI_CALLS_H

#define CALLS_PAGE "man/libfiber.7"
#define CALLS_SIZE 2048

/* Append to buf what the page lists under that name. */
void calls_add(const char *name, char buf[CALLS_SIZE]);

/* All that the page lists for the time between start and end, for a poller, with blanks between. Fails the test where a list is missing. Returns buf. */
const char *calls_listed(const char *poller, char buf[CALLS_SIZE]);

/* Say of each word what is wrong that is neither in a text nor excused; words that end with a colon do not count. How many. */
unsigned calls_missing(const char *words, const char *in, const char *excused, const char *what);

#endif
