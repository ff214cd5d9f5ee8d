/* SPDX-License-Identifier: MIT */
/* calls.h - the system calls that libfiber(7) lists */
#ifndef HARNESS_CLI_CALLS_H
#define HARNESS_CLI_CALLS_H

#define CALLS_PAGE "man/libfiber.7"
#define CALLS_SIZE 2048

/* Append to buf the calls that the page lists under this name. */
void calls_add(const char *name, char buf[CALLS_SIZE]);

/* All calls that the page lists for the time between start and end with a poller, separated by
 * blanks. Fails the test if a list is missing. Returns buf. */
const char *calls_listed(const char *poller, char buf[CALLS_SIZE]);

/* Report each word that is neither in the text `in` nor excused; words that end with a colon are
 * skipped. Returns how many were reported. */
unsigned calls_missing(const char *words, const char *in, const char *excused, const char *what);

#endif
