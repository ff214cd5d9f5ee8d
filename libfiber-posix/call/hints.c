/* SPDX-License-Identifier: MIT */
/* hints.c - what a descriptor was found to be, remembered by its number */
#include "call/hints.h"

#include <errno.h>
#include <sys/stat.h>

#include "call/park.h"

uint8_t fpx_hints[FPX_HINTS];
bool fpx_sees_streams;

bool fpx_on_disk(int fd)
{
	const unsigned known = fpx_sees_streams ? fpx_hints_of(fd) & (FPX_DISK | FPX_NO_DISK) : 0;
	const int before = errno;
	struct stat st;
	bool disk;

	if (known)
		return known & FPX_DISK;
	disk = fstat(fd, &st) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) || S_ISDIR(st.st_mode));
	errno = before;
	/* Before the first call that parks, plain threads do not report what they close. */
	if (fpx_used())
		fpx_set_hint(fd, disk ? FPX_DISK : FPX_NO_DISK);
	return disk;
}
