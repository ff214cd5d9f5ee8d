/* SPDX-License-Identifier: MIT */
/*
 * names.c - look up names, with negative errno results
 *
 * getaddrinfo(3) has its own errors, small negative numbers that would be confused with a negative
 * errno. Each is mapped to a distinct errno of similar meaning, so nothing is lost. For EAI_SYSTEM
 * the result is the system's errno. The exception is a timeout of the system: it is not the
 * caller's deadline, and is reported as no answer for now. FreeBSD has neither ENODATA nor an error
 * of getaddrinfo(3) for it: a name without an address is -ENOENT there.
 */
#include "os/names.h"

#include <errno.h>

#include "base/compiler.h"

static int error_of_system(void)
{
	if (errno == ETIMEDOUT || errno == ECANCELED)
		return -EAGAIN;
	return errno ? -errno : -EIO;
}

static int error_of(int code)
{
	switch (code) {
	case 0:
		return 0;
	case EAI_SYSTEM:
		return error_of_system();
	case EAI_NONAME:
		return -ENOENT;
#if defined EAI_NODATA && defined ENODATA
	case EAI_NODATA:
		return -ENODATA;
#endif
#ifdef EAI_ADDRFAMILY
	case EAI_ADDRFAMILY:
		return -EADDRNOTAVAIL;
#endif
	case EAI_AGAIN:
		return -EAGAIN;
	case EAI_FAIL:
		return -EIO;
	case EAI_FAMILY:
		return -EAFNOSUPPORT;
	case EAI_SOCKTYPE:
		return -ESOCKTNOSUPPORT;
	case EAI_SERVICE:
		return -EPROTONOSUPPORT;
	case EAI_BADFLAGS:
#ifdef EAI_BADHINTS
	case EAI_BADHINTS:
#endif
		return -EINVAL;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_OVERFLOW:
		return -EOVERFLOW;
#ifdef EAI_IDN_ENCODE
	case EAI_IDN_ENCODE:
		return -EILSEQ;
#endif
	default:
		return -EPROTO;
	}
}

fib_noinline int fib_os_getaddrinfo(const char *node, const char *service,
				    const struct addrinfo *hints, struct addrinfo **ret)
{
	int rc;

	do {
		errno = 0;
		rc = error_of(getaddrinfo(node, service, hints, ret));
	} while (rc == -EINTR);
	return rc;
}
