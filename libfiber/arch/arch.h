/* SPDX-License-Identifier: MIT */
/*
 * arch.h - what a port provides
 *
 * A port is a folder beside this file with frame.h (struct fib_context: sp, fp and pc of 8 bytes
 * each, at most 32 bytes in total), arch.c and, if it has its own switch, switch.S. No other file of
 * the library depends on an instruction set.
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
 * fn must not return. It starts with the FPU control words that the context has inherited. Returns
 * 0 or a negative errno.
 */
int fib_arch_init(struct fib_context *context, void *low, size_t size, void (*fn)(void *),
		  void *arg);

/* Give the context the caller's FPU control words. */
void fib_arch_inherit(struct fib_context *context);

/*
 * The context shares the control words with those that it is switched to and from: a switch from it to
 * one that shares them too neither saves nor loads them. A port that cannot omit that ignores the call.
 */
void fib_arch_share(struct fib_context *context);

/*
 * Save the caller in *from and continue where *to was saved. Returns when *from is switched to
 * again, perhaps on another thread. If both sides called this function from the same place, the CPU
 * predicts its return.
 *
 * from->fp need not be stored: a walk from (sp, pc) finds the frame pointer on the stack. A new context
 * of the caller itself is zeroed memory.
 *
 * *left is incremented, with release, when the caller is completely saved and its stack is no
 * longer used: from then on another thread may continue *from. No other thread may write *left
 * during the call.
 */
void fib_arch_switch(struct fib_context *from, struct fib_context *to, _Atomic uint64_t *left);

/* Continue where *to was saved, or start there. The caller is not saved and never continued. */
_Noreturn void fib_arch_jump(struct fib_context *to);

/* Start fn(arg) below top, on the stack that the caller is on, with the control words that *context
 * has inherited. The caller is not saved and never continued. As after fib_arch_init(), the fields
 * that a switch from *context does not save are set for readers. */
_Noreturn void fib_arch_start(struct fib_context *context, void *top, void (*fn)(void *),
			      void *arg);

/*
 * Save the caller in *context as a switch would, then call fn(arg) on the same stack. A reader can
 * walk the context and the stack's bytes that fn copied like those of a suspended fiber.
 */
void fib_arch_capture(struct fib_context *context, void (*fn)(void *), void *arg);

/*
 * Find where a signal handler has interrupted its thread, from the handler's ucontext_t: sp, fp and
 * pc, from which a walk can start. Where possible, a system call that the signal made fail with
 * EINTR is repeated when the handler returns. Returns false if this port cannot tell.
 * Async-signal-safe.
 */
bool fib_arch_interrupted(void *ucontext, struct fib_context *ret);

/* Return only the stack pointer and change nothing: for the handler of a fault. 0: this port cannot
 * tell. */
uint64_t fib_arch_interrupted_sp(const void *ucontext);

/*
 * Of the port, in thread_pointer.h: fib_arch_tp(), the thread pointer, through which code finds
 * thread-locals; and fib_arch_tp_move(), which gives the calling thread another one. Both only where
 * fib_arch_tp_can_move(). And FIB_ARCH_RSEQ_SIGNATURE, which the C library gives to rseq(2).
 */
#include "thread_pointer.h"
bool fib_arch_tp_can_move(void);

/* Make the head of a new block, at tp, like the one that the caller has; the table of modules that is
 * in it stays. */
void fib_arch_tp_head(void *tp);

/* The table of modules of the block at tp: its length is in the entry before the first one. */
void *fib_arch_tp_modules(void *tp);

/*
 * Whether an address may be one that a call returns to: the FIB_ARCH_CALL bytes before it end with a
 * call instruction. A port without stacks to search always answers false.
 */
#define FIB_ARCH_CALL 7u
bool fib_arch_after_call(const unsigned char before[FIB_ARCH_CALL]);

#endif
