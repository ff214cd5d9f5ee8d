/* SPDX-License-Identifier: MIT */
/* options.h - the command line of fiberize */
#ifndef FIBERIZE_OPTIONS_H
#define FIBERIZE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* Exit statuses of env(1), nice(1) and others that run a program. */
enum { FIBERIZE_FAILED = 125, FIBERIZE_REFUSED = 126, FIBERIZE_NOT_FOUND = 127 };

struct fiberize_options {
	unsigned carriers; /* 0: as many as CPUs */
	unsigned most;	   /* with substitutes */
	size_t stack;	   /* bytes */
	int64_t long_run;  /* ns; -1: off */
	int64_t trim;	   /* ns; 0: off */
	char **program;	   /* and its arguments */
};

/* Read the command line. Ends the process after an error, and after --help and --version. */
void fiberize_options(int argc, char *argv[], struct fiberize_options *ret);

/* Print "fiberize: WHAT: WHY" on stderr and end the process. */
_Noreturn void fiberize_refuse(int status, const char *what, const char *why);

#endif
