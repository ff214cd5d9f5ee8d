/* SPDX-License-Identifier: MIT */
/* watchdog.h - turn a hang into a dump of all fibers and a failure */
#ifndef HARNESS_WATCHDOG_H
#define HARNESS_WATCHDOG_H

/* The name of the watchdog's thread. */
#define HARNESS_WATCHDOG_THREAD "watchdog"

/*
 * Start the watchdog; call it first in main(). If the program still runs after
 * harness_seconds(seconds), fibertrace (if built) prints its fibers to stderr and the program
 * aborts. Another call sets a new limit, counted from that call. Also makes stdout line-buffered,
 * so that a dying program has printed its results. After the return the test may fork.
 */
void harness_watchdog(unsigned seconds);

#endif
