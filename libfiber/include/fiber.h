/* SPDX-License-Identifier: MIT */
/*
 * fiber.h - libfiber: stackful fibers for C on Linux
 *
 * This header includes all others. Functions return 0 or a count on success and a negative errno on
 * failure. Out parameters are named ret_*, may be NULL and are written on success only. Deadlines
 * are absolute nanoseconds on fiber_now()'s clock. See libfiber(7).
 */
#ifndef FIBER_H
#define FIBER_H

#include <fiber/api.h>
#include <fiber/time.h>
#include <fiber/fiber.h>
#include <fiber/runtime.h>
#include <fiber/sync.h>
#include <fiber/chan.h>
#include <fiber/group.h>
#include <fiber/io.h>
#include <fiber/op.h>
#include <fiber/context.h>
#include <fiber/introspect.h>
#include <fiber/trim.h>
#include <fiber/gc.h>

#endif
