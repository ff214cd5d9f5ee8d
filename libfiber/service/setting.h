/* SPDX-License-Identifier: MIT */
/*
 * setting.h - what all commands that change a setting share
 *
 * It checks whether settings may be changed, adds an audit entry for every change and refusal, and
 * answers if no runtime runs.
 */
#ifndef FIB_SERVICE_SETTING_H
#define FIB_SERVICE_SETTING_H

#include "service/peer.h"

struct fib_setting {
	enum fib_wire_audit_what what;
	int64_t leave; /* the value of a request that only reads */
	/* The current value; -ESRCH: no runtime runs. */
	int64_t (*read)(void);
	/* Set another value. Returns the previous one, or -ESRCH. */
	int64_t (*change)(int64_t wanted);
};

/*
 * Store the value of a request, which may be `leave`. False: changes are not allowed; the peer got
 * an error.
 */
bool fib_setting_begin(struct fib_peer *peer, const struct fib_setting *setting, int64_t wanted);

/* The value is invalid: add an audit entry. The caller answers the peer. */
void fib_setting_refused(const struct fib_peer *peer, const struct fib_setting *setting);

/*
 * Change the setting unless it is only read, and read it back. False: no runtime runs; the peer got
 * an error.
 */
bool fib_setting_apply(struct fib_peer *peer, const struct fib_setting *setting,
		       int64_t *ret_before, int64_t *ret_now);

#endif
