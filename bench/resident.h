/* SPDX-License-Identifier: MIT */
/* resident.h - pages, page tables and mappings of this process, from /proc; C and C++ */
#ifndef BENCH_RESIDENT_H
#define BENCH_RESIDENT_H

#include "bench/work.h"

struct resident {
	double bytes;  /* VmRSS */
	double tables; /* VmPTE, bytes */
	double maps;   /* lines of maps */
};

static inline struct resident resident_now(void)
{
	struct resident now = {0, 0, 0};
	char line[512];
	FILE *file = fopen("/proc/self/status", "r");

	if (!file)
		work_die("/proc/self/status");
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "VmRSS:", 6))
			now.bytes = strtod(line + 6, NULL) * 1024;
		else if (!strncmp(line, "VmPTE:", 6))
			now.tables = strtod(line + 6, NULL) * 1024;
	}
	fclose(file);
	file = fopen("/proc/self/maps", "r");
	if (!file)
		work_die("/proc/self/maps");
	for (int c = fgetc(file); c != EOF; c = fgetc(file))
		now.maps += c == '\n';
	fclose(file);
	return now;
}

/* Pages and page tables, bytes */
static inline double resident_all(const struct resident *before, const struct resident *after)
{
	return after->bytes + after->tables - before->bytes - before->tables;
}

/* cpu: ns for making and running n of them. */
static inline void resident_report(const struct resident *before, const struct resident *after,
				   long n, double cpu)
{
	work_report("bytes", (after->bytes - before->bytes) / (double)n);
	work_report("tables", (after->tables - before->tables) / (double)n);
	work_report("all", resident_all(before, after) / (double)n);
	work_report("maps", after->maps);
	work_report("us", cpu / (double)n / 1e3);
}

#endif
