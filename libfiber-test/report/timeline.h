/* SPDX-License-Identifier: MIT */
/* timeline.h - a schedule as a recording, which fibertrace reads */
#ifndef FIB_TEST_TIMELINE_H
#define FIB_TEST_TIMELINE_H

/* Record the schedule that starts now, with libfiber's recorder. */
void fib_timeline_begin(void);

/* Write the file: completely or not at all. Returns 0 or a negative errno. */
int fib_timeline_write(const char *path);

#endif
