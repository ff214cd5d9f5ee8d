/* SPDX-License-Identifier: MIT */
/*
 * arch.h - what a port provides
 *
 * A port is a folder beside this file with frame.h (struct fib_context: sp, fp and pc first, at most
 * 32 bytes), arch.c and, where it has its own switch, switch.S. Nothing else in the library knows
 * an instruction set.
 */
#ifndef FIB_ARCH_ARCH_H
#define FIB_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h" /* of the port the Makefile chose */

/* The folder's name, the ELF machine, and how a reader walks its stacks (layout.h). */
extern const char fib_arch_name[];
extern const uint32_t fib_arch_machine;
extern const uint32_t fib_arch_recipe;

/* The code range of the routine every walk ends in; 0, 0 where stacks cannot be walked. */
void fib_arch_entry_range(uint64_t *ret_low, uint64_t *ret_high);

/*
 * Prepare a context that will call fn(arg) on the stack [low, low + size) when first switched to.
 * fn must not return. It starts with the FPU control words that the context has inherited. 0 or a negative
 * errno.
 */
int fib_arch_init(struct fib_context *context, void *low, size_t size, void (*fn)(void *),
		  void *arg);

/* Give the context the caller's FPU control words. */
void fib_arch_inherit(struct fib_context *context);

/*
 * Save the caller in *from, go on where *to was saved. Returns when somebody switches back, perhaps
 * on another thread. Where both sides called it from the same place the CPU predicts its return. *left is
 * raised by one, with release, when all of the caller is saved and its stack not needed any more: from
 * then on another thread may go on in *from. Nobody else writes *left meanwhile.
 */
void fib_arch_switch(struct fib_context *from, struct fib_context *to, _Atomic uint64_t *left);

/* Go on where *to was saved, or begin there. The caller is not saved and never continued. */
_Noreturn void fib_arch_jump(struct fib_context *to);

/* Begin fn(arg) below top, on the stack that the caller stands on, with what *context has inherited. The caller is
 * not saved and never continued. As after fib_arch_init(), what a switch from *context does not save is there for readers. */
_Noreturn void fib_arch_start(struct fib_context *context, void *top, void (*fn)(void *),
			      void *arg);

/*
 * Save the caller in *context as a switch would and call fn(arg) meanwhile, on the same stack. A
 * reader can walk the context and the stack's bytes copied by fn like those of a suspended fiber.
 */
void fib_arch_capture(struct fib_context *context, void (*fn)(void *), void *arg);

/*
 * Where a signal handler has interrupted its thread, from the ucontext_t that it was called with: sp, fp and pc, from which a
 * walk can start. A system call that the signal made fail with EINTR is made again when the handler returns, where that is
 * possible. False: this port does not know. Async-signal-safe.
 */
bool fib_arch_interrupted(void *ucontext, struct fib_context *ret);

/* Only the stack pointer there, and nothing is changed: for the handler of a fault. 0: this port does not know. */
uint64_t fib_arch_interrupted_sp(const void *ucontext);

#endif
