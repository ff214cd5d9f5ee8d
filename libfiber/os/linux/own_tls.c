/* SPDX-License-Identifier: MIT */
/*
 * own_tls.c - blocks of thread-locals for fibers, of the GNU C library
 *
 * The library makes a block itself, by the function that it uses for a new thread. Behind the
 * thread-locals is its record of the thread, struct pthread. There what is not 0 is set: pointers to
 * itself, the list of robust locks, which is empty, and a number in place of the thread's. The offsets
 * are those that the library publishes for debuggers and for rseq(2), or that the kernel knows. If one
 * is missing, or does not fit the calling thread, there are no blocks.
 *
 * The number is above those of all threads, and differs between fibers: locks inside the C library
 * that know their owner compare it.
 *
 * Blocks that are free are kept. What the C library has in its own thread-locals stays, because its
 * malloc() has memory there that nothing else would free. All other modules get initial values.
 *
 * The library changes user ids in all threads: it sends a signal to each, whose handler notes in the
 * record of the thread that it is done. So the handler must run with the thread's own block.
 */
#include "os/own_tls.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <resolv.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/atomic.h"
#include "base/compiler.h"

#undef p_type /* of <resolv.h>; <elf.h> has a field of that name */

#pragma weak dlsym
#pragma weak dl_iterate_phdr

#define NUMBER_LEAST (1 << 22) /* the kernel's threads have smaller ones */
#define RSEQ_CPU     4	       /* offset of the CPU's number in struct rseq */
#define RSEQ_NOT     (-1)      /* "not registered": the C library asks the kernel */
#define RSEQ_STEP    32	       /* sizes of struct rseq are multiples of it */
#define RSEQ_END     1	       /* the flag of rseq(2) that ends the registration */
#define RSEQ_ROOM    27	       /* getauxval(): the bytes that the kernel uses */
#define KEPT_MOST    1024      /* bytes of the C library's thread-locals */
#define SET_ID	     33	       /* the C library's signal */

/* Behind struct pthread. */
struct block {
	void *memory;
	struct block *next; /* L free_lock */
	void *word;
	struct __res_state resolver;
};

/* A field of struct pthread, as described for debuggers. */
struct described {
	uint32_t bits;
	uint32_t count;
	uint32_t offset;
};

/* I: found once. */
static struct {
	void *(*allocate)(void *);
	void *(*initialize)(void *, bool);
	void (*start_ctype)(void);
	void (*destroy)(void);
	size_t size;  /* of all of the block */
	size_t align; /* of tp */
	size_t record;
	ptrdiff_t number, list, robust, rseq;
	ptrdiff_t own; /* its thread-locals */
	size_t own_size;
} libc;

static void *(*home_of)(void);
static void (*set_id)(int, siginfo_t *, void *);
static _Atomic int last_number = NUMBER_LEAST;

static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *free_blocks; /* L free_lock */

static inline void *at(void *tp, ptrdiff_t offset)
{
	return (char *)tp + offset;
}

static inline struct block *block_of(void *tp)
{
	return at(tp, (ptrdiff_t)libc.record);
}

/* -- find -- */

static void *symbol(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static bool find_functions(void)
{
	void (*info)(size_t *, size_t *);
	size_t size;

	*(void **)&libc.allocate = symbol("_dl_allocate_tls");
	*(void **)&libc.initialize = symbol("_dl_allocate_tls_init");
	*(void **)&libc.start_ctype = symbol("__ctype_init");
	*(void **)&libc.destroy = symbol("__call_tls_dtors");
	*(void **)&info = symbol("_dl_get_tls_static_info");
	if (!libc.allocate || !libc.initialize || !libc.start_ctype || !libc.destroy || !info)
		return false;
	info(&size, &libc.align);
	libc.size = size;
	return size > 0 && libc.align >= 16 && !(libc.align & (libc.align - 1));
}

static bool find_record(void)
{
	const uint32_t *size = symbol("_thread_db_sizeof_pthread");
	const struct described *number = symbol("_thread_db_pthread_tid");
	const struct described *list = symbol("_thread_db_pthread_list");
	const ptrdiff_t *rseq = symbol("__rseq_offset");
	char *tp = fib_arch_tp();
	size_t length = 0;
	char *robust = NULL;

	if (!size || !number || !list || number->bits != 32 || list->bits != 128 ||
	    *size > libc.size || *size < 512)
		return false;
	if (syscall(SYS_get_robust_list, 0, &robust, &length) < 0 || robust < tp ||
	    robust + length > tp + *size)
		return false;
	libc.record = *size;
	libc.number = number->offset;
	libc.list = list->offset;
	libc.robust = robust - tp;
	libc.rseq = rseq ? *rseq : 0;
	return libc.rseq >= 0 && (size_t)libc.rseq < libc.record - RSEQ_CPU &&
	       *(int *)at(tp, libc.number) == (int)syscall(SYS_gettid) && *(void **)tp == tp;
}

/* errno is in it. */
static int find_own(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uintptr_t data = (uintptr_t)info->dlpi_tls_data, variable = (uintptr_t)&errno;

	(void)size;
	for (int i = 0; data && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_TLS || variable < data || variable - data >= p->p_memsz)
			continue;
		libc.own = (ptrdiff_t)(data - (uintptr_t)arg);
		libc.own_size = p->p_memsz;
		return 1;
	}
	return 0;
}

static bool find_variables(void)
{
	return dl_iterate_phdr(find_own, fib_arch_tp()) == 1 && libc.own_size <= KEPT_MOST;
}

/* -- the signal for user ids -- */

/* The kernel's struct. */
struct action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static void on_set_id(int number, siginfo_t *info, void *context)
{
	void *const home = home_of(), *const mine = fib_arch_tp();

	if (home && home != mine)
		fib_arch_tp_move(home);
	set_id(number, info, context);
	if (home && home != mine)
		fib_arch_tp_move(mine);
}

/* The library has a handler since it made a second thread. */
static bool take_signal(void)
{
	struct action action;

	if (syscall(SYS_rt_sigaction, SET_ID, NULL, &action, sizeof action.mask) < 0 ||
	    (uintptr_t)action.handler <= (uintptr_t)SIG_IGN)
		return false;
	set_id = action.handler;
	action.handler = on_set_id;
	return syscall(SYS_rt_sigaction, SET_ID, &action, NULL, sizeof action.mask) == 0;
}

int fib_os_own_tls_find(void *(*home)(void), const char **ret_why)
{
	if (!dlsym || !dl_iterate_phdr)
		*ret_why = "the program is static";
	else if (!fib_arch_tp_can_move())
		*ret_why = "this port of libfiber cannot move the thread pointer";
	else if (!find_functions() || !find_record() || !find_variables())
		*ret_why = "this C library does not tell how it makes thread-locals";
	else {
		home_of = home;
		if (take_signal())
			return 0;
		*ret_why = "the C library's signal for user ids cannot be taken";
	}
	return -ENOTSUP;
}

/* -- make a block -- */

/* Everything in the library's record of the thread, as of one that was just made. */
static void fill_record(void *tp, void *modules)
{
	void **robust = at(tp, libc.robust), **list = at(tp, libc.list);

	memset(tp, 0, libc.record);
	((void **)tp)[1] = modules;
	fib_arch_tp_head(tp);
	*(int *)at(tp, libc.number) = fib_add(&last_number, 1) + 1;
	robust[0] = robust;	  /* the list ... */
	robust[-1] = robust;	  /* ... and back */
	list[0] = list[1] = list; /* of threads, without any other: a forked child takes it out */
	if (libc.rseq)
		*(int *)at(tp, libc.rseq + RSEQ_CPU) = RSEQ_NOT;
}

static int make(void **ret)
{
	const size_t below = (libc.size - libc.record + libc.align - 1) & ~(libc.align - 1);
	const size_t size =
		(below + libc.record + sizeof(struct block) + libc.align - 1) & ~(libc.align - 1);
	char *memory = aligned_alloc(libc.align, size);
	void *tp;

	if (!memory)
		return -ENOMEM;
	tp = memory + below;
	memset(memory, 0, size);
	if (!libc.allocate(tp)) {
		free(memory);
		return -ENOMEM;
	}
	fill_record(tp, fib_arch_tp_modules(tp));
	block_of(tp)->memory = memory;
	*ret = tp;
	return 0;
}

/* -- a block that was used before -- */

/* What the library has for each module: an address, and what to free. */
union module {
	size_t count;
	struct {
		void *address;
		void *memory;
	};
};

/* Modules that were loaded later, and have got memory at their first use. */
static void forget_modules(union module *modules)
{
	for (size_t i = 1; i <= modules[-1].count; i++) {
		if (!modules[i].memory)
			continue;
		free(modules[i].memory);
		modules[i].memory = NULL;
		modules[i].address = (void *)-1L;
	}
}

/* Give all modules but the C library their initial values. The table may move, as it grows. */
static void reset(void *tp)
{
	char kept[KEPT_MOST];

	forget_modules(fib_arch_tp_modules(tp));
	fill_record(tp, fib_arch_tp_modules(tp));
	memcpy(kept, at(tp, libc.own), libc.own_size);
	libc.initialize(tp, true);
	memcpy(at(tp, libc.own), kept, libc.own_size);
}

int fib_os_own_tls_take(void **ret)
{
	struct block *block;

	pthread_mutex_lock(&free_lock);
	block = free_blocks;
	if (block)
		free_blocks = block->next;
	pthread_mutex_unlock(&free_lock);
	if (!block)
		return make(ret);
	*ret = (char *)block - libc.record;
	block->word = NULL;
	reset(*ret);
	return 0;
}

void fib_os_own_tls_give(void *tp)
{
	struct block *block = block_of(tp);

	pthread_mutex_lock(&free_lock);
	block->next = free_blocks;
	free_blocks = block;
	pthread_mutex_unlock(&free_lock);
}

/* -- fork -- */

void fib_os_own_tls_lock(void)
{
	pthread_mutex_lock(&free_lock);
}

void fib_os_own_tls_unlock(void)
{
	pthread_mutex_unlock(&free_lock);
}

/*
 * The kernel still writes the CPU's number into the record of the thread that the caller was. But the
 * C library knows the fiber's record only: the stacks of all other threads, where their records are,
 * are free in the child. Once they are unmapped the kernel kills the child.
 */
void fib_os_own_tls_forget(void)
{
	const unsigned long most =
		(getauxval(RSEQ_ROOM) + RSEQ_STEP - 1) & -(unsigned long)RSEQ_STEP;
	void *const home = home_of ? home_of() : NULL;

	if (!libc.rseq || !home || home == fib_arch_tp())
		return;
	/* The size must be the registered one: as much as the kernel uses, or what the first kernels did. */
	if (syscall(SYS_rseq, at(home, libc.rseq), most, RSEQ_END, FIB_ARCH_RSEQ_SIGNATURE) < 0)
		syscall(SYS_rseq, at(home, libc.rseq), RSEQ_STEP, RSEQ_END,
			FIB_ARCH_RSEQ_SIGNATURE);
}

/* -- use it -- */

fib_noinline void fib_os_own_tls_begin(void)
{
	struct __res_state **resolver = symbol("__resp");

	libc.start_ctype();
	/* Else the one of the first thread. */
	if (resolver)
		*resolver = &block_of(fib_arch_tp())->resolver;
	errno = 0;
}

fib_noinline void fib_os_own_tls_end(void)
{
	libc.destroy();
	uselocale(LC_GLOBAL_LOCALE);
}

void fib_os_own_tls_range(void *tp, const void **ret_low, const void **ret_high)
{
	*ret_low = block_of(tp)->memory;
	*ret_high = block_of(tp);
}

void **fib_os_own_tls_word(void *tp)
{
	return &block_of(tp)->word;
}

static int number_in(const void *tp)
{
	return *(const int *)((const char *)tp + libc.number);
}

bool fib_os_own_tls_is(const void *tp)
{
	return libc.record && number_in(tp) > NUMBER_LEAST;
}

int fib_os_own_tls_number(void)
{
	const void *tp = fib_arch_tp();

	return fib_os_own_tls_is(tp) ? number_in(tp) : 0;
}
