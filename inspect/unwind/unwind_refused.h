/* SPDX-License-Identifier: MIT */
/* unwind_refused.h - what libunwind may ask of a process, and does not get from two registers and a stack. */
#ifndef INS_UNWIND_REFUSED_H
#define INS_UNWIND_REFUSED_H

#include <libunwind.h>

static int no_dynamic(unw_addr_space_t as, unw_word_t *ret, void *arg)
{
	(void)as;
	(void)ret;
	(void)arg;
	return -UNW_ENOINFO;
}

static int no_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
	(void)as;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t ip, char *buf, size_t size, unw_word_t *offset,
		   void *arg)
{
	(void)as;
	(void)ip;
	(void)buf;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

#endif
