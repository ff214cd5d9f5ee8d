/* SPDX-License-Identifier: MIT */
/*
 * names.c - getaddrinfo(3) and relatives; __open()
 *
 * These are no system calls: a static program has only one definition of each, which must be the C
 * library's. So they are in the shared library alone. __open() is open(2) for old objects. In a static
 * program the C library itself calls it, and may hold a lock, with which no fiber must park.
 */
#include <netdb.h>

#include <fiber/posix.h>

#include "call/open.h"
#include "entry/entry.h"
#include "entry/own.h"
#include "system/system.h"

FPX_ENTRY int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
			  struct addrinfo **ret)
{
	return fpx_enters(FPX_CALLER) ? fiber_posix_getaddrinfo(node, service, hints, ret)
				      : fpx_system.getaddrinfo(node, service, hints, ret);
}

FPX_ENTRY int getnameinfo(const struct sockaddr *addr, socklen_t addrlen, char *host,
			  socklen_t hostlen, char *service, socklen_t servicelen, int flags)
{
	return fpx_enters(FPX_CALLER) ? fiber_posix_getnameinfo(addr, addrlen, host, hostlen,
								service, servicelen, flags)
				      : fpx_system.getnameinfo(addr, addrlen, host, hostlen,
							       service, servicelen, flags);
}

FPX_ENTRY int gethostbyname_r(const char *name, struct hostent *buffer, char *text, size_t size,
			      struct hostent **ret, int *ret_error)
{
	return fpx_enters(FPX_CALLER)
		       ? fiber_posix_gethostbyname_r(name, buffer, text, size, ret, ret_error)
		       : fpx_system.gethostbyname_r(name, buffer, text, size, ret, ret_error);
}

int __open(const char *path, int flags, ...);

FPX_ENTRY int __open(const char *path, int flags, ...)
{
	const mode_t mode = FPX_MODE_AFTER(flags);

	return fpx_opens_alone(FPX_CALLER) ? fpx_system.open(path, flags, mode)
					   : fiber_posix_open(path, flags, mode);
}

/* -- other names of the same functions: files have 64-bit positions -- */

FPX_ALIAS(__open) int __open64(const char *path, int flags, ...);
