/* SPDX-License-Identifier: MIT */
/* paths.h - find the build's files and the test's own folder */
#ifndef HARNESS_PATHS_H
#define HARNESS_PATHS_H

#include <stddef.h>

#define HARNESS_PATH 512

/* The build folder: $FIBER_BUILD, which the runner sets, else derived from the test program's path.
 * Absolute. Any thread. */
const char *harness_build(void);

/* The path of a program in the build folder's bin/. Returns buf, of HARNESS_PATH bytes. */
const char *harness_program(char *buf, const char *name);

/* The path of the variant that is always built without a sanitizer; scripts/check.mk lists these
 * programs. */
const char *harness_plain(char *buf, const char *name);

/* This test's own folder, mode 0700, removed with its contents when the test exits. Programs
 * started by the harness have their control sockets below it. */
const char *harness_folder(void);

/* folder/name, in buf of HARNESS_PATH bytes. */
const char *harness_file(char *buf, const char *name);

/* The sanitizer of this build: "address", "undefined", "thread", or "". */
const char *harness_sanitizer(void);

#endif
