/* SPDX-License-Identifier: MIT */
/*
 * context.c - the settings of many connections
 *
 * A context is complete when it is made and does not change while connections use it. OpenSSL
 * shares it among threads with locks that it holds for a moment, inside its calls.
 *
 * Modes: buffers of 16 KiB are released while a connection is idle; OpenSSL asks for whole buffers,
 * not for the five bytes of a record's head (read ahead). A renegotiation, which only TLS 1.2 has,
 * is refused: it would make a writer wait for the reader.
 */
#include "context.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "alpn.h"
#include "connection.h"
#include "failure.h"
#include "identity.h"
#include "kernel.h"
#include "names.h"
#include "trust.h"

#define ALL_FLAGS \
	(FIBER_TLS_NO_VERIFY | FIBER_TLS_NEED_CERT | FIBER_TLS_NO_RESUME | FIBER_TLS_KERNEL)

/* Where a setting has failed, for the caller's text. */
struct place {
	const char *what;
	char *text;
	size_t size;
};

/* Write "what: why". Returns error. */
static int report(const struct place *place, int error)
{
	char why[FIB_TLS_TEXT];

	fib_tls_queue_text(why, sizeof(why));
	if (error != -EINVAL || !*why)
		snprintf(why, sizeof(why), "%s", strerror(-error));
	if (error && place->text && place->size)
		snprintf(place->text, place->size, "%s: %s", place->what, why);
	return error;
}

/* OpenSSL has a session for a client. Returns 1: the reference was taken. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
	const struct fiber_tls *tls = SSL_get_app_data(ssl);

	if (!tls->host)
		return 0;
	/* A resumed connection is not verified again. The program may have relaxed the verification
	 * of this connection through OpenSSL. */
	if (SSL_get_verify_result(ssl) != X509_V_OK && !(tls->context->flags & FIBER_TLS_NO_VERIFY))
		return 0;
	fib_tls_sessions_put(&tls->context->saved, tls->host, session);
	return 1;
}

static void set_sessions(struct fiber_tls_context *context)
{
	static const unsigned char id[] = "libfiber-tls";

	if (context->flags & FIBER_TLS_NO_RESUME) {
		SSL_CTX_set_session_cache_mode(context->openssl, SSL_SESS_CACHE_OFF);
		SSL_CTX_set_options(context->openssl, SSL_OP_NO_TICKET);
		SSL_CTX_set_num_tickets(context->openssl, 0);
	} else if (context->server) {
		/* A client keeps its session in a ticket. A list of sessions here would need memory,
		 * a lock, and walks to drop the old ones. */
		SSL_CTX_set_session_cache_mode(context->openssl,
					       SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL |
						       SSL_SESS_CACHE_NO_AUTO_CLEAR);
		SSL_CTX_set_session_id_context(context->openssl, id, sizeof(id));
	} else {
		SSL_CTX_set_session_cache_mode(context->openssl,
					       SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
		SSL_CTX_sess_set_new_cb(context->openssl, on_session);
	}
}

static int set_trust(struct fiber_tls_context *context, const char *ca, struct place *place)
{
	int mode = SSL_VERIFY_NONE;

	if (context->server && context->flags & FIBER_TLS_NEED_CERT)
		mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
	if (!context->server && !(context->flags & FIBER_TLS_NO_VERIFY))
		mode = SSL_VERIFY_PEER;
	SSL_CTX_set_verify(context->openssl, mode, NULL);
	return mode == SSL_VERIFY_NONE ? 0 : fib_tls_trust(context->openssl, ca, &place->what);
}

static int set_identity(struct fiber_tls_context *context, const struct fiber_tls_options *o,
			struct place *place)
{
	if (o->certificate)
		return fib_tls_identity(context->openssl, o->certificate, o->key, &place->what);
	place->what = "a server without a certificate";
	return context->server ? -EINVAL : 0;
}

static int set_lists(struct fiber_tls_context *context, const struct fiber_tls_options *o,
		     struct place *place)
{
	place->what = o->ciphers;
	if (o->ciphers && !SSL_CTX_set_cipher_list(context->openssl, o->ciphers))
		return -EINVAL;
	place->what = o->suites;
	if (o->suites && !SSL_CTX_set_ciphersuites(context->openssl, o->suites))
		return -EINVAL;
	place->what = o->alpn;
	return o->alpn ? fib_tls_alpn(context, o->alpn) : 0;
}

static int set_all(struct fiber_tls_context *context, const struct fiber_tls_options *o,
		   struct place *place)
{
	int error;

	SSL_CTX_set_min_proto_version(context->openssl, TLS1_2_VERSION);
	SSL_CTX_set_options(context->openssl, SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(context->openssl, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_read_ahead(context->openssl, 1);
	if (context->flags & FIBER_TLS_KERNEL && fib_tls_kernel_available())
		SSL_CTX_set_options(context->openssl, SSL_OP_ENABLE_KTLS);
	set_sessions(context);
	error = set_identity(context, o, place);
	if (!error)
		error = set_trust(context, o->ca, place);
	return error ? error : set_lists(context, o, place);
}

/* Flags that would not do what their name says. Returns a text, or NULL: none. */
static const char *find_wrong_flags(bool server, const struct fiber_tls_options *o)
{
	if (o->flags & ~ALL_FLAGS)
		return "options";
	if (server && o->flags & FIBER_TLS_NO_VERIFY)
		return "FIBER_TLS_NO_VERIFY for a server";
	if (!server && o->flags & FIBER_TLS_NEED_CERT)
		return "FIBER_TLS_NEED_CERT for a client";
	/* Any certificate that the system trusts would do: anyone can get one. */
	if (o->flags & FIBER_TLS_NEED_CERT && !o->ca)
		return "FIBER_TLS_NEED_CERT without ca";
	return NULL;
}

static int make(bool server, const struct fiber_tls_options *options,
		struct fiber_tls_context **ret, char *text, size_t text_size)
{
	struct fiber_tls_options o = {0};
	struct place place = {"options", text, text_size};
	struct fiber_tls_context *context;
	int error;

	*ret = NULL;
	ERR_clear_error();
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	if (options && options->size > sizeof(o))
		return report(&place, -EINVAL);
	place.what = find_wrong_flags(server, &o);
	if (place.what)
		return report(&place, -EINVAL);
	place.what = "options";
	context = calloc(1, sizeof(*context));
	if (!context)
		return report(&place, -ENOMEM);
	context->references = 1;
	context->server = server;
	context->flags = o.flags;
	fib_tls_sessions_init(&context->saved);
	context->openssl = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
	error = context->openssl ? set_all(context, &o, &place) : -ENOMEM;
	if (error) {
		fiber_tls_context_unref(context);
		return report(&place, error);
	}
	*ret = context;
	return 0;
}

int fiber_tls_server_new(const struct fiber_tls_options *options, struct fiber_tls_context **ret,
			 char *text, size_t text_size)
{
	return make(true, options, ret, text, text_size);
}

int fiber_tls_client_new(const struct fiber_tls_options *options, struct fiber_tls_context **ret,
			 char *text, size_t text_size)
{
	return make(false, options, ret, text, text_size);
}

int fiber_tls_add_certificate(struct fiber_tls_context *context, const char *certificate,
			      const char *key, char *text, size_t text_size)
{
	struct place place = {"a client has no names to add", text, text_size};
	int error = -EINVAL;

	ERR_clear_error();
	if (context->server)
		error = fib_tls_names_add(context, certificate, key, &place.what);
	return report(&place, error);
}

struct fiber_tls_context *fiber_tls_context_ref(struct fiber_tls_context *context)
{
	__atomic_fetch_add(&context->references, 1, __ATOMIC_RELAXED);
	return context;
}

void fiber_tls_context_unref(struct fiber_tls_context *context)
{
	/* The last one sees what the others did with the context. */
	if (!context || __atomic_fetch_sub(&context->references, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	SSL_CTX_free(context->openssl);
	fib_tls_names_free(context->names);
	fib_tls_sessions_free(&context->saved);
	free(context->alpn);
	free(context);
}

struct ssl_ctx_st *fiber_tls_context_openssl(struct fiber_tls_context *context)
{
	return context->openssl;
}
