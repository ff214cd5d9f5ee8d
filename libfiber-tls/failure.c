/* SPDX-License-Identifier: MIT */
/*
 * failure.c - errors of OpenSSL as numbers and text
 *
 * OpenSSL puts errors into a queue of the thread. A failure is translated at once, while the fiber
 * still is on that thread, and kept with the connection. The socket's own error comes first: what
 * OpenSSL says about it is only a consequence. A refused certificate has a reason of its own, which
 * tells more than the queue.
 */
#include "failure.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <string.h>

void fib_tls_queue_text(char *text, size_t size)
{
	const unsigned long code = ERR_get_error();
	const char *reason = ERR_reason_error_string(code);

	if (code && ERR_SYSTEM_ERROR(code))
		reason = strerror(ERR_GET_REASON(code));
	if (!code)
		snprintf(text, size, "%s", "");
	else if (reason)
		snprintf(text, size, "%s", reason);
	else
		ERR_error_string_n(code, text, size);
	ERR_clear_error();
}

int fib_tls_fail_with(struct fiber_tls *tls, int error, const char *text)
{
	if (tls->failed)
		return tls->failed;
	snprintf(tls->text, sizeof(tls->text), "%s", text);
	tls->failed = error;
	return error;
}

/* Whether this side has refused the peer's certificate. */
static bool is_refusal(unsigned long code)
{
	return ERR_GET_LIB(code) == ERR_LIB_SSL &&
	       (ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED ||
		ERR_GET_REASON(code) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE);
}

int fib_tls_fail(struct fiber_tls *tls)
{
	const unsigned long code = ERR_peek_error();
	const long verdict = SSL_get_verify_result(tls->ssl);
	char text[FIB_TLS_TEXT];

	fib_tls_queue_text(text, sizeof(text));
	if (tls->broken == -ENOTSUP)
		return fib_tls_fail_with(
			tls, -ENOTSUP,
			"the peer changes keys, and the kernel, which encrypts, cannot");
	if (tls->broken)
		return fib_tls_fail_with(tls, tls->broken, strerror(-tls->broken));
	if (is_refusal(code) && verdict != X509_V_OK)
		return fib_tls_fail_with(tls, -EACCES, X509_verify_cert_error_string(verdict));
	if (is_refusal(code))
		return fib_tls_fail_with(tls, -EACCES, text);
	if (tls->eof && (!code || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING))
		return fib_tls_fail_with(tls, -ECONNABORTED,
					 "the stream ended without the peer's closing message");
	if (!code && SSL_get_shutdown(tls->ssl) & SSL_RECEIVED_SHUTDOWN)
		return fib_tls_fail_with(tls, -ECONNABORTED,
					 "the peer closed during the handshake");
	if (ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE)
		return fib_tls_fail_with(tls, -ENOMEM, text);
	return fib_tls_fail_with(tls, -EPROTO, code ? text : "unknown error of OpenSSL");
}

int fib_tls_send_failed(struct fiber_tls *tls, int error)
{
	if (tls->broken)
		return fib_tls_fail(tls);
	return tls->send_broken ? tls->send_broken : error;
}
