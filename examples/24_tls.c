/* SPDX-License-Identifier: MIT */
/*
 * 24_tls.c - a server and a client that talk through TLS
 *
 * struct fiber_tls adds TLS to a connected socket. Its calls park the fiber as those for plain
 * sockets do. The client verifies the server's certificate, which this program makes first.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fiber.h>
#include <fiber/tls.h>

#define SECOND INT64_C(1000000000)

static struct fiber_tls_context *of_server, *of_client;
static struct sockaddr_in here = {.sin_family = AF_INET};
static int listener;

static void *answer(void *arg)
{
	const int64_t deadline = fiber_after(10 * SECOND); /* for the whole conversation */
	struct fiber_tls *tls;
	char text[64];
	ssize_t n;

	if (fiber_tls_new(of_server, (int)(intptr_t)arg, NULL, &tls) < 0)
		return NULL;
	n = fiber_tls_read(tls, text, sizeof(text), deadline); /* shakes hands first */
	if (n > 0)
		fiber_tls_write(tls, text, (size_t)n, deadline);
	fiber_tls_shutdown(tls, deadline);
	fiber_tls_free(tls);
	fiber_close((int)(intptr_t)arg);
	return NULL;
}

static void *serve(void *arg)
{
	struct fiber_group connections = {.name = "connections"};
	int fd;

	while ((fd = fiber_accept(listener, NULL, NULL, FIBER_FOREVER)) >= 0)
		if (fiber_group_spawn(&connections, answer, (void *)(intptr_t)fd) < 0)
			fiber_close(fd);
	fiber_group_wait(&connections, FIBER_FOREVER);
	return arg;
}

/* Send "hello" to the server. `host` is whom its certificate must be valid for. */
static void ask(const char *host)
{
	const int64_t deadline = fiber_after(10 * SECOND);
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct fiber_tls *tls = NULL;
	struct fiber_tls_info info;
	char text[64];
	ssize_t n;

	n = fiber_connect(fd, (struct sockaddr *)&here, sizeof(here), deadline);
	if (n == 0)
		n = fiber_tls_new(of_client, fd, host, &tls);
	if (n == 0)
		n = fiber_tls_handshake(tls, deadline);
	if (n == 0)
		n = fiber_tls_write(tls, "hello", 5, deadline);
	if (n == 5)
		n = fiber_tls_read(tls, text, sizeof(text), deadline);
	if (n > 0 && fiber_tls_info(tls, &info) == 0)
		printf("%s: %.*s, with %s%s\n", host, (int)n, text, info.version,
		       info.resumed ? ", resumed" : "");
	else
		printf("%s: %s\n", host, n == -EACCES ? fiber_tls_error(tls) : strerror((int)-n));
	if (tls)
		fiber_tls_shutdown(tls, deadline);
	fiber_tls_free(tls);
	fiber_close(fd);
}

static void *start(void *arg)
{
	struct fiber *server;

	if (fiber_spawn(serve, NULL, &server) < 0)
		fiber_fail(-ENOMEM, "no server");
	ask("localhost");
	ask("localhost");
	ask("example.org");
	fiber_close(listener); /* wakes the fiber that accepts */
	fiber_join(server, NULL, FIBER_FOREVER);
	return arg;
}

/* Make a certificate that is valid for localhost, and contexts that have and trust it. */
static bool make_contexts(void)
{
	struct fiber_tls_options server = {.size = sizeof(server), .certificate = "example.pem"};
	struct fiber_tls_options client = {.size = sizeof(client), .ca = "example.pem"};
	char folder[] = "/tmp/24_tls-XXXXXX", text[200] = "no certificate";
	bool made;

	if (!mkdtemp(folder) || chdir(folder) < 0)
		return false;
	/* NOLINTNEXTLINE(cert-env33-c): a constant command */
	made = system("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 1 "
		      "-keyout example.pem -out example.crt 2>openssl.log "
		      "-addext subjectAltName=DNS:localhost && cat example.crt >>example.pem") ==
		       0 &&
	       fiber_tls_server_new(&server, &of_server, text, sizeof(text)) == 0 &&
	       fiber_tls_client_new(&client, &of_client, text, sizeof(text)) == 0;
	if (!made)
		fprintf(stderr, "24_tls: %s\n", text);
	unlink("example.pem");
	unlink("example.crt");
	unlink("openssl.log");
	rmdir(folder);
	return made;
}

static bool open_listener(void)
{
	socklen_t size = sizeof(here);

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	return bind(listener, (struct sockaddr *)&here, size) == 0 && listen(listener, 16) == 0 &&
	       getsockname(listener, (struct sockaddr *)&here, &size) == 0;
}

int main(void)
{
	int rc;

	if (!make_contexts() || !open_listener())
		return 1;
	rc = fiber_run(start, NULL, NULL, NULL);
	fiber_tls_context_unref(of_server);
	fiber_tls_context_unref(of_client);
	return rc < 0;
}
