/* SPDX-License-Identifier: MIT */
/*
 * names.c - looking up names, with errors as everywhere
 *
 * getaddrinfo(3) has errors of its own, small negative numbers, some of which would be other errors as the negative errno.
 * Each is given an errno that no other has and that says the same, so nothing is lost. Where it only says that the
 * system's errno tells more, that is the error; only a deadline that passed in the system, and not with the caller, is
 * what it is: no answer for now.
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
	case EAI_NODATA:
		return -ENODATA;
	case EAI_ADDRFAMILY:
		return -EADDRNOTAVAIL;
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
		return -EINVAL;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_OVERFLOW:
		return -EOVERFLOW;
	case EAI_IDN_ENCODE:
		return -EILSEQ;
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
