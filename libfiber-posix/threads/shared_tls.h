/* SPDX-License-Identifier: MIT */
/* shared_tls.h - find modules whose thread-local variables are shared by fibers of one carrier */
#ifndef FPX_THREADS_SHARED_TLS_H
#define FPX_THREADS_SHARED_TLS_H

#include <stdbool.h>
#include <stdint.h>

#define FPX_CALL_SITES 1024u

/* A: places that have called and need no further look; two neighbours for each hash. */
extern const void *fpx_call_sites[FPX_CALL_SITES];

/* A fiber without thread-locals of its own has called from pc, which may be new. errno stays. */
void fpx_shared_tls_look(const void *pc);

static inline unsigned fpx_call_site(const void *pc)
{
	return (unsigned)((uint64_t)(uintptr_t)pc * UINT64_C(0x9e3779b97f4a7c15) >> 54);
}

/* Such a fiber calls from pc. */
static inline void fpx_shared_tls_enter(const void *pc)
{
	const unsigned at = fpx_call_site(pc);

	if (__builtin_expect(__atomic_load_n(&fpx_call_sites[at], __ATOMIC_RELAXED) != pc &&
				     __atomic_load_n(&fpx_call_sites[at ^ 1], __ATOMIC_RELAXED) !=
					     pc,
			     0))
		fpx_shared_tls_look(pc);
}

#endif
