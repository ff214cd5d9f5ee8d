/* SPDX-License-Identifier: MIT */
/*
 * openssl_races.h - what ThreadSanitizer must not report of OpenSSL; include it once in a program
 *
 * OpenSSL is not compiled with ThreadSanitizer, which therefore does not see its atomics. It does see
 * calls that OpenSSL makes of the C library, such as memcmp(3), and takes them for races.
 */
#ifndef HARNESS_OPENSSL_RACES_H
#define HARNESS_OPENSSL_RACES_H

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the sanitizer's name */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "called_from_lib:libcrypto.so\ncalled_from_lib:libssl.so\n";
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

#endif
