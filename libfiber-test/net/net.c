/* SPDX-License-Identifier: MIT */
/* net.c - begin and end the network of a schedule */
#include "net/net.h"

#include "net/hosts.h"
#include "net/inside.h"
#include "net/linked.h"
#include "net/numbers.h"
#include "net/ports.h"
#include "net/sockets.h"

static const char *const linked[] __attribute__((used)) = {
	&fib_net_checked,   &fib_net_connect, &fib_net_endpoint, &fib_net_hosts,
	&fib_net_multiplex, &fib_net_open,    &fib_net_options,	 &fib_net_transfer,
};

void fib_net_begin(void)
{
	fib_hosts_clear();
	fib_numbers_begin();
	fib_inside_begin();
	fib_ports_begin();
	fib_sockets_begin();
}

void fib_net_settle(void)
{
	unsigned i;

	for (i = 0; i < fib_socket_count(); i++)
		if (fib_socket_at(i)->closed)
			fib_socket_let_go(fib_socket_at(i));
}

void fib_net_end(void)
{
	fib_sockets_end();
	fib_hosts_clear();
}
