/* SPDX-License-Identifier: MIT */
/* assets.h - the files of the page, which are inside the tool */
#ifndef SERVE_ASSETS_H
#define SERVE_ASSETS_H

#include "fiberctl/serve/answer.h"

/*
 * The file at a path, such as "/" or "/page.css". NULL: there is none. The answer stays valid; the
 * caller uses and drops it.
 */
struct serve_answer *serve_asset(const char *path);

/* Free the answers. */
void serve_assets_end(void);

#endif
