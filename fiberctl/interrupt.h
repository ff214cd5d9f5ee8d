/* SPDX-License-Identifier: MIT */
/* interrupt.h - wait for a time or until the user interrupts the tool */
#ifndef FIBERCTL_INTERRUPT_H
#define FIBERCTL_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* From now on SIGINT and SIGTERM only end the waits below; _end: they end the tool again. */
void ctl_interrupt_begin(void);
void ctl_interrupt_end(void);

/* Sleep until ns of ins_duration_now(). False: interrupted, now or before. */
bool ctl_interrupt_sleep(int64_t until);

#endif
