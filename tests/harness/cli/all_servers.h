/* SPDX-License-Identifier: MIT */
/* all_servers.h - start the three HTTP servers and the file that they serve, for one test */
#ifndef HARNESS_CLI_ALL_SERVERS_H
#define HARNESS_CLI_ALL_SERVERS_H

#include "tests/harness/cli/http.h"

static struct http_server servers[HTTP_SERVERS];
static char big_file[HARNESS_PATH];

/* A test's setup and teardown. The servers' timeouts are longer than any pause of a slow
 * machine. */
static inline int all_servers(void **state)
{
	(void)state;
	http_start_all(big_file, "600000", servers);
	return 0;
}

static inline int all_servers_end(void **state)
{
	(void)state;
	http_end_all(servers);
	return 0;
}

#endif
