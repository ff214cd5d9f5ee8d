/* SPDX-License-Identifier: MIT */
/* environment.h - what tells the libraries to run a program in fibers */
#ifndef FIBERIZE_ENVIRONMENT_H
#define FIBERIZE_ENVIRONMENT_H

#include "fiberize/options.h"

/* Set LD_PRELOAD and FIBERIZE. Ends the process with a message if that fails. */
void fiberize_environment(const struct fiberize_options *options);

#endif
