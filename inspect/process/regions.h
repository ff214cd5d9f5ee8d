/* SPDX-License-Identifier: MIT */
/* regions.h - the readable memory of a live process, and the words that the kernel keeps for it */
#ifndef INS_PROCESS_REGIONS_H
#define INS_PROCESS_REGIONS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "inspect/model/region.h"

/*
 * Read /proc/PID/maps. Devices are left out, except for memory that processes share and for the
 * rings of io_uring. Returns 0 or a negative errno.
 */
int ins_regions_live(pid_t pid, struct ins_regions *ret);

/* Parse such a text. 0 or -ENOMEM. */
int ins_regions_parse(FILE *maps, struct ins_regions *ret);

/*
 * Call fn for each word that the process gave to the kernel, and that the kernel gives back when
 * something happens: the data of epoll. Returns 0, or fn's first result that is not 0.
 */
typedef int ins_kernel_word_fn(void *context, uint64_t word);
int ins_kernel_words(pid_t pid, ins_kernel_word_fn *fn, void *context);

#endif
