/* SPDX-License-Identifier: MIT */
/* api.h - what every public header needs: visibility, C linkage, atomic fields. */
#ifndef FIBER_API_H
#define FIBER_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIBER_API __attribute__((visibility("default")))

#ifdef __cplusplus
#define FIBER_BEGIN_DECLS extern "C" {
#define FIBER_END_DECLS	  }
#define FIBER_NORETURN	  __attribute__((noreturn)) /* [[noreturn]] may not follow FIBER_API */
/* Same size and alignment as in C, also on i386; C++ callers never touch these fields. */
#define FIBER_ATOMIC(T) __attribute__((aligned(sizeof(T)))) T
#else
#define FIBER_BEGIN_DECLS
#define FIBER_END_DECLS
#define FIBER_NORETURN	_Noreturn
#define FIBER_ATOMIC(T) __attribute__((aligned(sizeof(T)))) _Atomic(T)
#endif

#endif
