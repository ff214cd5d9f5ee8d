/* SPDX-License-Identifier: MIT */
/*
 * pages.c - address space, and pages that fault on purpose
 *
 * Some emulators return 0 for any advice without acting on it. So the kernel's answer is trusted
 * only if it refuses an invalid advice.
 */
#include "os/os.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/features.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef MADV_GUARD_REMOVE
#define MADV_GUARD_REMOVE 103
#endif
#ifndef MADV_COLD
#define MADV_COLD 20
#endif
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#define MADV_BOGUS 9999

size_t fib_os_page_size(void)
{
	static _Atomic size_t size;
	size_t known = fib_load(&size);

	if (!known) {
		known = (size_t)sysconf(_SC_PAGESIZE);
		fib_store(&size, known);
	}
	return known;
}

uint64_t fib_os_space_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

static int map(size_t size, int protection, int flags, void **ret)
{
	void *at = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (at == MAP_FAILED)
		return -errno;
	*ret = at;
	return 0;
}

fib_noinline int fib_os_reserve(size_t size, void **ret)
{
	int rc = map(size, PROT_NONE, MAP_NORESERVE, ret);

	/* gcore would write all of it, gigabytes of zeros. */
	if (rc == 0)
		madvise(*ret, size, MADV_DONTDUMP);
	return rc;
}

fib_noinline int fib_os_commit(void *at, size_t size)
{
	if (mprotect(at, size, PROT_READ | PROT_WRITE) < 0)
		return -errno;
	madvise(at, size, MADV_DODUMP);
	return 0;
}

fib_noinline int fib_os_map_stacks(size_t size, void **ret)
{
	int rc = map(size, PROT_READ | PROT_WRITE, MAP_NORESERVE | MAP_STACK, ret);

	if (rc < 0)
		return rc;
	/* Only advice: without it stacks work but use more memory. */
	madvise(*ret, size, MADV_NOHUGEPAGE);
	return 0;
}

fib_noinline void fib_os_will_split(void *at, size_t size)
{
	/* A mapping with a page in it before it is split can be joined again, because its parts
	 * share that origin. The last page is the first that a stack uses. */
	*((volatile char *)at + size - 1) = 0;
}

fib_noinline int fib_os_map_buffer(size_t size, void **ret)
{
	return map(size, PROT_READ | PROT_WRITE, 0, ret);
}

fib_noinline void fib_os_unmap(void *at, size_t size)
{
	munmap(at, size);
}

static bool guards_are_real(void *at, size_t size)
{
	static _Atomic int known; /* 0 not asked, 1 yes, 2 no */
	int answer = fib_load(&known);

	if (!answer) {
		answer = madvise(at, size, MADV_BOGUS) < 0 ? 1 : 2;
		fib_store(&known, answer);
	}
	return answer == 1;
}

fib_noinline int fib_os_guard_split(void *at, size_t size)
{
	return mprotect(at, size, PROT_NONE) < 0 ? -errno : 0;
}

fib_noinline int fib_os_guard_inside(void *at, size_t size)
{
	int rc = -ENOSYS;

	if (guards_are_real(at, size))
		rc = madvise(at, size, MADV_GUARD_INSTALL) < 0 ? -errno : 0;
	/* Locked memory has none either. */
	if (rc < 0)
		fib_os_feature_failed(FIB_OS_GUARD_ADVICE);
	else
		fib_os_feature_works(FIB_OS_GUARD_ADVICE);
	return rc;
}

#define VECTOR	      64u
#define OUR_OWN_PIDFD -10001 /* PIDFD_SELF_THREAD_GROUP, Linux 6.14 */

fib_noinline int fib_os_guard_inside_many(void *at, size_t size, size_t stride, unsigned n)
{
	struct iovec guards[VECTOR];
	unsigned i;
	ssize_t done;
	int rc;

	if (n > VECTOR)
		n = VECTOR;
	if (!guards_are_real(at, size)) {
		fib_os_feature_failed(FIB_OS_GUARD_ADVICE);
		return -ENOSYS;
	}
	for (i = 0; i < n; i++)
		guards[i] = (struct iovec){(char *)at + i * stride, size};
	done = syscall(SYS_process_madvise, OUR_OWN_PIDFD, guards, (size_t)n, MADV_GUARD_INSTALL,
		       0u);
	if (done >= (ssize_t)size) {
		fib_os_feature_works(FIB_OS_GUARD_ADVICE);
		fib_os_feature_works(FIB_OS_GUARD_MANY);
		return (int)((size_t)done / size);
	}
	/* This kernel cannot: guard the first only, the others when their stacks are needed. */
	rc = fib_os_guard_inside(at, size);
	if (rc < 0)
		return rc;
	fib_os_feature_failed(FIB_OS_GUARD_MANY);
	return 1;
}

fib_noinline int fib_os_guard_join(void *at, size_t size)
{
	int rc = fib_os_guard_inside(at, size);

	/* The range faults already, so it is guarded at every moment. */
	if (rc == 0 && mprotect(at, size, PROT_READ | PROT_WRITE) < 0)
		rc = -errno;
	return rc;
}

fib_noinline void fib_os_discard(void *at, size_t size)
{
	madvise(at, size, MADV_DONTNEED);
}

fib_noinline bool fib_os_is_locked(void *at)
{
	/* The kernel refuses both this advice and guards to a locked mapping, and to few others. */
	return madvise(at, fib_os_page_size(), MADV_DONTNEED) < 0;
}

fib_noinline int fib_os_guard_remove(void *at, size_t size)
{
	return madvise(at, size, MADV_GUARD_REMOVE) < 0 ? -errno : 0;
}

fib_noinline void fib_os_advise_cold(void *at, size_t size)
{
	madvise(at, size, MADV_COLD);
}

fib_noinline void fib_os_advise_out(void *at, size_t size)
{
	madvise(at, size, MADV_PAGEOUT);
}

fib_noinline size_t fib_os_resident_in(uint64_t low, size_t size)
{
	unsigned char resident[256];
	const size_t page = fib_os_page_size(), pages = (size + page - 1) / page;
	size_t done, i, n, bytes = 0;

	for (done = 0; done < pages; done += n) {
		n = pages - done < sizeof resident ? pages - done : sizeof resident;
		if (mincore((void *)(uintptr_t)(low + done * page), n * page, resident) < 0)
			return 0;
		for (i = 0; i < n; i++)
			bytes += resident[i] & 1 ? page : 0;
	}
	return bytes;
}

fib_noinline size_t fib_os_give_back(uint64_t low, size_t size)
{
	const size_t before = fib_os_resident_in(low, size);
	size_t after = 0;

	if (madvise((void *)(uintptr_t)low, size, MADV_DONTNEED) < 0)
		after = fib_os_resident_in(low, size);
	return after < before ? before - after : 0;
}
