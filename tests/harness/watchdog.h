/* SPDX-License-Identifier: MIT */
/* watchdog.h - a hang becomes a dump of every fiber and a failure. */
#ifndef HARNESS_WATCHDOG_H
#define HARNESS_WATCHDOG_H

/* What its thread is called. */
#define HARNESS_WATCHDOG_THREAD "watchdog"

/*
 * Start the watchdog of a test program, first thing in main(): when the program still runs after
 * `seconds`, fibertrace (where it is built) prints its fibers on stderr and the program aborts. Calling it again
 * sets a new limit, counted from then. Also makes stdout line-buffered, so that a program that dies has said
 * what it had proved. When it returns, the test may fork.
 */
void harness_watchdog(unsigned seconds);

#endif
