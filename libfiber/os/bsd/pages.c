/* SPDX-License-Identifier: MIT */
/*
 * pages.c - address space, and pages that fault on purpose
 *
 * Neither system has a guard inside a mapping: each guard is a mapping of its own. Neither has
 * MAP_NORESERVE any more: memory without access is not counted, and other memory when it is used.
 */
#include "os/os.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/bsd/system.h"
#include "os/features.h"

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
	return (uint64_t)limit.rlim_cur;
}

static int map(size_t size, int protection, void **ret)
{
	void *at = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANON, -1, 0);

	if (at == MAP_FAILED)
		return -errno;
	*ret = at;
	return 0;
}

fib_noinline int fib_os_reserve(size_t size, void **ret)
{
	int rc = map(size, PROT_NONE, ret);

	if (rc == 0)
		fib_bsd_in_cores(*ret, size, false);
	return rc;
}

fib_noinline int fib_os_commit(void *at, size_t size)
{
	if (mprotect(at, size, PROT_READ | PROT_WRITE) < 0)
		return -errno;
	fib_bsd_in_cores(at, size, true);
	return 0;
}

/* Without MAP_STACK, with which FreeBSD makes a mapping that grows. */
fib_noinline int fib_os_map_stacks(size_t size, void **ret)
{
	return map(size, PROT_READ | PROT_WRITE, ret);
}

fib_noinline int fib_os_map_buffer(size_t size, void **ret)
{
	return map(size, PROT_READ | PROT_WRITE, ret);
}

fib_noinline void fib_os_unmap(void *at, size_t size)
{
	munmap(at, size);
}

/* fib_os_guard_join() never works here, so nothing is prepared for it. */
fib_noinline void fib_os_will_split(void *at, size_t size)
{
	(void)at;
	(void)size;
}

fib_noinline int fib_os_guard_split(void *at, size_t size)
{
	return mprotect(at, size, PROT_NONE) < 0 ? -errno : 0;
}

fib_noinline int fib_os_guard_inside(void *at, size_t size)
{
	(void)at;
	(void)size;
	fib_os_feature_lacks(FIB_OS_GUARD_ADVICE);
	return -ENOSYS;
}

fib_noinline int fib_os_guard_inside_many(void *at, size_t size, size_t stride, unsigned n)
{
	(void)stride;
	(void)n;
	return fib_os_guard_inside(at, size);
}

fib_noinline int fib_os_guard_join(void *at, size_t size)
{
	return fib_os_guard_inside(at, size);
}

fib_noinline int fib_os_guard_remove(void *at, size_t size)
{
	return fib_os_guard_inside(at, size);
}

/*
 * Replace the mapping, which no other thread sees half done. madvise(2) does not do: after MADV_FREE a
 * page has its old contents or is zero, and after MADV_DONTNEED it keeps them.
 */
fib_noinline void fib_os_discard(void *at, size_t size)
{
	mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0);
}

/* It is asked because of guards inside a mapping, which do not exist here. */
fib_noinline bool fib_os_is_locked(void *at)
{
	(void)at;
	return false;
}

/* POSIX says that the contents stay, other than with Linux's MADV_DONTNEED. */
fib_noinline void fib_os_advise_cold(void *at, size_t size)
{
	posix_madvise(at, size, POSIX_MADV_DONTNEED);
}

/* No call writes pages to swap at once. */
fib_noinline void fib_os_advise_out(void *at, size_t size)
{
	(void)at;
	(void)size;
}

/* A part that is not mapped: an error of mincore(2) on FreeBSD; macOS finds no page in it. */
fib_noinline size_t fib_os_resident_in(uint64_t low, size_t size)
{
	char resident[256];
	const size_t page = fib_os_page_size(), pages = (size + page - 1) / page;
	size_t done, i, n, bytes = 0;

	for (done = 0; done < pages; done += n) {
		n = pages - done < sizeof resident ? pages - done : sizeof resident;
		if (mincore((void *)(uintptr_t)(low + done * page), n * page, resident) < 0)
			return 0;
		for (i = 0; i < n; i++)
			bytes += resident[i] & MINCORE_INCORE ? page : 0;
	}
	return bytes;
}

fib_noinline size_t fib_os_give_back(uint64_t low, size_t size)
{
	const size_t before = fib_os_resident_in(low, size);
	size_t after;

	fib_os_discard((void *)(uintptr_t)low, size);
	after = fib_os_resident_in(low, size);
	return after < before ? before - after : 0;
}

fib_noinline int64_t fib_os_high_water(uint64_t low, size_t size)
{
	char resident[256];
	size_t page = fib_os_page_size();
	uint64_t at = (low + page - 1) & ~(uint64_t)(page - 1);
	uint64_t end = low + size;

	while (at < end) {
		size_t n = (size_t)((end - at + page - 1) / page);
		size_t i;

		n = n < sizeof resident ? n : sizeof resident;
		if (mincore((void *)(uintptr_t)at, n * page, resident) < 0)
			return -errno;
		for (i = 0; i < n; i++)
			if (resident[i] & MINCORE_INCORE)
				return (int64_t)(end - (at + i * page));
		at += n * page;
	}
	return 0;
}

/* There is no file of the page map. */
fib_noinline int64_t fib_os_high_water_by(int pagemap, uint64_t low, size_t size)
{
	(void)pagemap;
	(void)low;
	(void)size;
	return -ENOSYS;
}
