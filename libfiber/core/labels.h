/* SPDX-License-Identifier: MIT */
/* labels.h - a fiber's key=value labels, where readers outside the process can see them. */
#ifndef FIB_CORE_LABELS_H
#define FIB_CORE_LABELS_H

#include <stdint.h>

#include "layout/layout.h"

/*
 * Set, replace or (value NULL) remove one label in *labels, which is made where it is needed. id: whose they are.
 * By that fiber only. 0, or fiber_label()'s errors; nothing has changed then.
 */
int fib_labels_set(struct fib_layout_labels **labels, uint64_t id, const char *key,
		   const char *value);

/* Let go of *labels, which is not NULL: it may serve another fiber at once. */
void fib_labels_drop(struct fib_layout_labels **labels);

/* Keep others out while the process forks. */
void fib_labels_lock(void);
void fib_labels_unlock(void);

#endif
