/* SPDX-License-Identifier: MIT */
/*
 * event.h - the part of kqueue(2) that libfiber uses, for tests on Linux
 *
 * The names and the meaning are those of FreeBSD's manual page kqueue(2); the values of the
 * constants are this file's own. kqueue.c implements it.
 */
#ifndef TESTS_KQUEUE_SYS_EVENT_H
#define TESTS_KQUEUE_SYS_EVENT_H

#include <stdint.h>
#include <time.h>

enum { EVFILT_READ = -1, EVFILT_WRITE = -2, EVFILT_USER = -3 };

#define EV_ADD	   0x0001
#define EV_DELETE  0x0002
#define EV_CLEAR   0x0004
#define EV_RECEIPT 0x0008
#define EV_EOF	   0x0010
#define EV_ERROR   0x0020

#define NOTE_TRIGGER 0x0001

struct kevent {
	uintptr_t ident;
	short filter;
	unsigned short flags;
	unsigned fflags;
	int64_t data;
	void *udata;
};

#define EV_SET(e, i, f, fl, ff, d, u)           \
	(*(e) = (struct kevent){.ident = (i),   \
				.filter = (f),  \
				.flags = (fl),  \
				.fflags = (ff), \
				.data = (d),    \
				.udata = (u)})

int kqueue(void);
int kevent(int kq, const struct kevent *changes, int nchanges, struct kevent *events, int nevents,
	   const struct timespec *timeout);

#endif
