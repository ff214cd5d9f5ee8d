/* SPDX-License-Identifier: MIT */
/* labels.h - a fiber's key=value labels, visible to readers outside the process */
#ifndef FIB_CORE_LABELS_H
#define FIB_CORE_LABELS_H

#include <stdint.h>

#include "layout/layout.h"

/*
 * Set, replace or (value NULL) remove one label in *labels, which is allocated if needed. id: of
 * the fiber that owns them, which is the only caller. Returns 0, or fiber_label()'s errors; then
 * nothing has changed.
 */
int fib_labels_set(struct fib_layout_labels **labels, uint64_t id, const char *key,
		   const char *value);

/* Release *labels, which is not NULL. The block may be given to another fiber at once. */
void fib_labels_drop(struct fib_layout_labels **labels);

/* Lock out other threads while the process forks. */
void fib_labels_lock(void);
void fib_labels_unlock(void);

#endif
