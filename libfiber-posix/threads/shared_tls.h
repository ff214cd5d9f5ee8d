/* SPDX-License-Identifier: MIT */
/* shared_tls.h - find modules whose thread-local variables are shared by fibers of one carrier */
#ifndef FPX_THREADS_SHARED_TLS_H
#define FPX_THREADS_SHARED_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "threads/hash.h"

#define FPX_CALL_SITES_LOG2 10u

/* A: places that have called and need no further look; two neighbours for each hash. */
extern const void *fpx_call_sites[1u << FPX_CALL_SITES_LOG2];

/* A fiber without thread-locals of its own has called from pc, which may be new. errno stays. */
void fpx_shared_tls_look(const void *pc);

/* Such a fiber calls from pc. */
static inline void fpx_shared_tls_enter(const void *pc)
{
	const unsigned at = fpx_hash(pc, FPX_CALL_SITES_LOG2);

	if (__builtin_expect(__atomic_load_n(&fpx_call_sites[at], __ATOMIC_RELAXED) != pc &&
				     __atomic_load_n(&fpx_call_sites[at ^ 1], __ATOMIC_RELAXED) !=
					     pc,
			     0))
		fpx_shared_tls_look(pc);
}

#endif
