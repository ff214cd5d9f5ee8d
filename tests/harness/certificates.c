/* SPDX-License-Identifier: MIT */
/* certificates.c - certificates for tests, made with openssl(1) in the test's own folder */
#include "tests/harness/certificates.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/harness/paths.h"
#include "tests/harness/process.h"

#define MOST 16

static const char *path(const char *name, const char *end)
{
	static char paths[MOST][HARNESS_PATH];
	static unsigned next;
	char file[64];

	snprintf(file, sizeof(file), "%s.%s", name, end);
	return harness_file(paths[next++ % MOST], file);
}

const char *harness_pem(const char *name)
{
	return path(name, "pem");
}

const char *harness_key(const char *name)
{
	return path(name, "key");
}

static void run(const char *const argv[])
{
	struct harness_process *p = harness_run(argv, NULL, 60);

	if (harness_exit_code(p)) {
		fprintf(stderr, "# %s %s failed: %s\n", argv[0], argv[1], p->err.bytes);
		abort();
	}
	harness_free(p);
}

static void write_file(const char *to, const char *text)
{
	FILE *file = fopen(to, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

void harness_authority(const char *name)
{
	const char *const argv[] = {"openssl",
				    "req",
				    "-x509",
				    "-newkey",
				    "ec",
				    "-pkeyopt",
				    "ec_paramgen_curve:P-256",
				    "-nodes",
				    "-days",
				    "1",
				    "-subj",
				    "/CN=an authority of this test",
				    "-keyout",
				    harness_key(name),
				    "-out",
				    harness_pem(name),
				    NULL};

	run(argv);
}

void harness_certify(const char *name, const char *authority, const char *alt, int days)
{
	const char *const request = path(name, "csr"), *const extensions = path(name, "ext");
	const char *const ask[] = {"openssl",	      "req",
				   "-newkey",	      "ec",
				   "-pkeyopt",	      "ec_paramgen_curve:P-256",
				   "-nodes",	      "-subj",
				   "/CN=a test",      "-keyout",
				   harness_key(name), "-out",
				   request,	      NULL};
	char span[16], text[256];
	const char *const sign[] = {"openssl",
				    "x509",
				    "-req",
				    "-in",
				    request,
				    "-CA",
				    harness_pem(authority),
				    "-CAkey",
				    harness_key(authority),
				    "-days",
				    span,
				    "-extfile",
				    extensions,
				    "-out",
				    harness_pem(name),
				    NULL};

	snprintf(span, sizeof(span), "%d", days);
	snprintf(text, sizeof(text), "subjectAltName=%s\n", alt);
	write_file(extensions, text);
	run(ask);
	run(sign);
}
