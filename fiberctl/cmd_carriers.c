/* SPDX-License-Identifier: MIT */
/*
 * cmd_carriers.c - the carriers of each runtime, and how it waits for descriptors
 *
 * A runtime may wait in another way than it was meant to, because the machine forbids that one: here it says so, once for
 * each runtime.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/process.h"
#include "inspect/render.h"

struct answer {
	bool json;
	json_t *carriers, *runtimes; /* with json */
	struct ins_summary summary;
};

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {
		[FIB_WIRE_CARRIER_POLLING] = "polling",
		[FIB_WIRE_CARRIER_IDLE] = "idle",
		[FIB_WIRE_CARRIER_SEARCHING] = "searching",
		[FIB_WIRE_CARRIER_RUNNING] = "running",
	};

	return state < sizeof names / sizeof names[0] ? names[state] : "unknown";
}

static json_t *number_or_null(uint64_t n)
{
	return n ? json_integer((json_int_t)n) : json_null();
}

static void put_runtime(struct answer *a, const struct fib_wire_runtime *r)
{
	char name[sizeof r->poller * 4], note[sizeof r->note * 4];

	if (a->json) {
		json_array_append_new(a->runtimes,
				      json_pack("{s:I, s:i, s:I, s:i, s:{s:o, s:o}}", "id",
						(json_int_t)r->serial, "carriers", (int)r->carriers,
						"polls", (json_int_t)r->polls, "queued",
						(int)r->queued, "poller", "name",
						ins_json_text(r->poller), "note",
						r->note[0] ? ins_json_text(r->note) : json_null()));
		return;
	}
	printf("runtime %" PRIu64 ": poller %s, %" PRIu64 " poll%s, %u queued for any carrier\n",
	       r->serial, ins_words_clean(r->poller, name, sizeof name), r->polls,
	       r->polls == 1 ? "" : "s", r->queued);
	if (r->note[0])
		printf("note: %s\n", ins_words_clean(r->note, note, sizeof note));
	printf("%10s %-10s %10s %10s\n", "CARRIER", "STATE", "FIBER", "QUEUED");
}

static void put_carrier(struct answer *a, const struct fib_wire_runtime *r,
			const struct fib_wire_carrier *c)
{
	char fiber[24] = "-";

	if (a->json) {
		json_array_append_new(
			a->carriers,
			json_pack("{s:I, s:i, s:s, s:o, s:i}", "runtime", (json_int_t)r->serial,
				  "index", (int)c->index, "state", state_name(c->state), "fiberId",
				  number_or_null(c->fiber), "queued", (int)c->queued));
		return;
	}
	if (c->fiber)
		snprintf(fiber, sizeof fiber, "%" PRIu64, c->fiber);
	printf("%10u %-10s %10s %10u\n", c->index, state_name(c->state), fiber, c->queued);
}

/* A runtime and its carriers. What a newer program says besides is skipped. */
static int take(struct answer *a, const char *payload, size_t length)
{
	struct fib_wire_runtime r;
	struct fib_wire_carrier c;
	uint32_t i;

	if (length < sizeof r)
		return -EPROTO;
	memcpy(&r, payload, sizeof r);
	r.poller[sizeof r.poller - 1] = 0;
	r.note[sizeof r.note - 1] = 0;
	if (r.carrier_size < sizeof c || (length - sizeof r) / r.carrier_size < r.carriers)
		return -EPROTO;
	put_runtime(a, &r);
	for (i = 0; i < r.carriers; i++) {
		memcpy(&c, payload + length - (size_t)(r.carriers - i) * r.carrier_size, sizeof c);
		put_carrier(a, &r, &c);
	}
	return 0;
}

static int finish(struct answer *a, const void *payload, size_t length)
{
	struct fib_wire_end end;

	if (length < sizeof end)
		return -EPROTO;
	memcpy(&end, payload, sizeof end);
	a->summary.total = end.total;
	a->summary.shown = end.shown;
	a->summary.sampled_ns = end.sampled_ns;
	return 0;
}

static int ask(struct fib_wire_client *client, const struct ctl_socket *socket, struct answer *a)
{
	struct fib_wire_header header;
	struct fib_wire_error error;
	const void *payload;
	int rc = fib_wire_request(client, FIB_WIRE_CARRIERS, NULL, 0);

	while (rc == 0) {
		rc = fib_wire_receive(client, &header, &payload);
		if (rc < 0)
			break;
		if (header.type == FIB_WIRE_ERROR && header.length >= sizeof error) {
			memcpy(&error, payload, sizeof error);
			error.text[sizeof error.text - 1] = 0;
			return ctl_refused(socket, error.error, error.text);
		}
		if (header.type == FIB_WIRE_END) {
			rc = finish(a, payload, header.length);
			if (rc == 0)
				return CTL_WELL;
		} else if (header.type == FIB_WIRE_RUNTIME) {
			rc = take(a, payload, header.length);
		} else if (header.type == FIB_WIRE_ERROR) {
			rc = -EPROTO;
		}
	}
	return ctl_refused(socket, rc, NULL);
}

static void put_json(const struct answer *a, const struct fib_wire_process *process)
{
	const struct ins_problems problems = {0};
	struct ins_json json;

	ins_json_begin(&json, stdout, process->pid, process->name, "control", NULL);
	ins_json_key(&json, "runtimes", json_incref(a->runtimes));
	ins_json_key(&json, "carriers", json_incref(a->carriers));
	ins_json_end(&json, &a->summary, &problems);
}

static int run(const struct ctl_arguments *arguments)
{
	struct answer a = {.json = arguments->json};
	struct fib_wire_process process;
	struct fib_wire_client client;
	struct ctl_socket socket;
	int code, rc;

	code = ctl_process_find(arguments->word[0], &socket);
	if (code != CTL_WELL)
		return code;
	rc = ctl_hello(socket.path, CTL_TIMEOUT, &process);
	if (rc == 0)
		rc = fib_wire_connect(&client, socket.path, CTL_TIMEOUT);
	if (rc < 0)
		return ctl_refused(&socket, rc, NULL);
	a.carriers = json_array();
	a.runtimes = json_array();
	code = ask(&client, &socket, &a);
	if (code == CTL_WELL && a.json)
		put_json(&a, &process);
	if (code == CTL_WELL)
		code = ctl_written(CTL_WELL);
	json_decref(a.carriers);
	json_decref(a.runtimes);
	fib_wire_disconnect(&client);
	return code;
}

const struct ctl_command ctl_carriers = {
	.name = "carriers",
	.usage = "PROCESS",
	.summary = "what each carrier does, and the poller",
	.help = "For each runtime: how it waits for descriptors, how often it has looked, and how\n"
		"many runnable fibers stand in no carrier's line. A note says why it is another\n"
		"poller than was wanted (FIBER_POLLER). Then a line for each carrier:\n"
		"  running    a fiber, whose id is shown\n"
		"  searching  it looks for something to run\n"
		"  polling    it sleeps until a descriptor is ready\n"
		"  idle       it sleeps until it is needed\n"
		"and how many runnable fibers stand in its line.\n",
	.least = 1,
	.most = 1,
	.run = run,
};
