/* SPDX-License-Identifier: MIT */
/*
 * certificates.h - certificates for tests, made with openssl(1) in the test's own folder
 *
 * A certificate NAME is in the files NAME.pem and NAME.key; see harness_file(). A failure aborts
 * the test.
 */
#ifndef HARNESS_CERTIFICATES_H
#define HARNESS_CERTIFICATES_H

/* Make a certificate of an authority, valid for a day. */
void harness_authority(const char *name);

/* Make a certificate signed by the authority. alt: what it is valid for, as
 * "DNS:localhost,IP:127.0.0.1". days: how long from now; -1: it expired yesterday. */
void harness_certify(const char *name, const char *authority, const char *alt, int days);

/* The path of NAME.pem or NAME.key. Valid until the 16th next call. */
const char *harness_pem(const char *name);
const char *harness_key(const char *name);

#endif
