/* SPDX-License-Identifier: MIT */
/*
 * pause.c - stopping one thread of another process for the time of a copy
 *
 * The kernel lets a thread go when the thread that traces it ends. So each stop is made by a thread of our own, which
 * lives for it alone: when the other one does not stop in time, because it waits for a device or gets no CPU, ours is cancelled and the
 * kernel takes back the wish to stop it. The same happens when we are killed.
 *
 * PTRACE_SEIZE sends no signal, and PTRACE_INTERRUPT stops without one. A system call in which the thread waits is begun again by the
 * kernel, with the rest of its time; but epoll_wait(2), sigtimedwait(2), semop(2) and a few more answer EINTR after any
 * stop, as they do after SIGSTOP and SIGCONT (signal(7)). Who stands in one of them is not stopped (runner.c).
 *
 * What is below sp is copied too: a leaf function may have its frame there.
 */
#include "inspect/pause.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "inspect/duration.h"

#define RED_ZONE    128u
#define STACK_MAX   (16u << 20)	 /* copied of one stack */
#define STACK_ASIDE (256u << 10) /* copied of the fiber's stack where sp is not on it */
#define PATIENCE_NS INT64_C(1000000000)
#define PAGE	    4096u

struct stop {
	struct ins_pause *pause;
	enum ins_pause_end end;
	int64_t since; /* 0: it was not stopped */
};

#if defined(__x86_64__)
static bool fill(struct ins_registers *r, const struct user_regs_struct *u)
{
	const uint64_t at[INS_REGISTERS] = {u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi,
					    u->rbp, u->rsp, u->r8,  u->r9,  u->r10, u->r11,
					    u->r12, u->r13, u->r14, u->r15, u->rip};

	memcpy(r->at, at, sizeof at);
	r->count = 17;
	r->sp = u->rsp;
	r->fp = u->rbp;
	r->pc = u->rip;
	return true;
}
#elif defined(__aarch64__)
static bool fill(struct ins_registers *r, const struct user_regs_struct *u)
{
	memcpy(r->at, u->regs, 31 * sizeof r->at[0]);
	r->at[31] = u->sp;
	r->count = 32;
	r->sp = u->sp;
	r->fp = u->regs[29];
	r->pc = u->pc;
	return true;
}
#else
static bool fill(struct ins_registers *r, const struct user_regs_struct *u)
{
	(void)r;
	(void)u;
	return false;
}
#endif

static bool registers_of(pid_t tid, struct ins_registers *ret)
{
	struct user_regs_struct user;
	struct iovec io = {&user, sizeof user};

	return ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io) == 0 && fill(ret, &user);
}

/* As much as there is, page by page. */
static uint64_t copy_some(const struct ins_memory *memory, uint64_t from, unsigned char *to,
			  uint64_t size)
{
	uint64_t done = 0;

	while (done < size) {
		uint64_t n = PAGE - (from + done) % PAGE;
		struct ins_memory_piece piece = {from + done, to + done, 0};

		piece.size = n < size - done ? n : size - done;
		if (ins_memory_read(memory, &piece, 1) < 0)
			break;
		done += piece.size;
	}
	return done;
}

/* Whether something in the copy points into the fiber's stack: the registers that the kernel saved for a signal handler do. */
static bool points_into(const struct ins_pause *p, const unsigned char *bytes, uint64_t size)
{
	uint64_t i, word;

	for (i = 0; i + sizeof word <= size; i += sizeof word) {
		memcpy(&word, bytes + i, sizeof word);
		if (word - p->stack_low < p->stack_size)
			return true;
	}
	return false;
}

static enum ins_pause_end copy_aside(struct ins_pause *p)
{
	const uint64_t top = p->stack_low + p->stack_size;
	struct ins_memory_piece piece[2] = {{p->record, p->to_record, p->record_size}};

	p->size = p->stack_size < STACK_ASIDE ? p->stack_size : STACK_ASIDE;
	p->low = top - p->size;
	p->aside_low = p->registers.sp - RED_ZONE;
	p->aside_size = copy_some(p->memory, p->aside_low, p->bytes + p->size, INS_PAUSE_ASIDE);
	if (!points_into(p, p->bytes + p->size, p->aside_size))
		return INS_PAUSE_ELSEWHERE;
	piece[1] = (struct ins_memory_piece){p->low, p->bytes, p->size};
	return ins_memory_read(p->memory, piece, 2) < 0 ? INS_PAUSE_GONE : INS_PAUSE_TAKEN;
}

static enum ins_pause_end copy(struct ins_pause *p)
{
	const uint64_t top = p->stack_low + p->stack_size, sp = p->registers.sp;
	struct ins_memory_piece piece[2] = {{p->record, p->to_record, p->record_size}};

	p->aside_size = 0;
	if (sp < p->stack_low || sp > top)
		return p->aside ? copy_aside(p) : INS_PAUSE_ELSEWHERE;
	p->low = sp - p->stack_low < RED_ZONE ? p->stack_low : sp - RED_ZONE;
	p->size = top - p->low < STACK_MAX ? top - p->low : STACK_MAX;
	piece[1] = (struct ins_memory_piece){p->low, p->bytes, p->size};
	return ins_memory_read(p->memory, piece, 2) < 0 ? INS_PAUSE_GONE : INS_PAUSE_TAKEN;
}

/* It has stopped: for us, or about to take a signal, which it then takes. */
static void use(struct stop *s, int status)
{
	const bool signal = status >> 16 == 0;
	const int64_t seen = ins_duration_now();
	struct ins_pause *p = s->pause;
	int old;

	if (!WIFSTOPPED(status)) {
		s->end = INS_PAUSE_GONE;
		return;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	s->end = registers_of(p->tid, &p->registers) ? copy(p) : INS_PAUSE_NO_PORT;
	ptrace(PTRACE_DETACH, p->tid, NULL, (void *)(uintptr_t)(signal ? WSTOPSIG(status) : 0));
	p->copy_ns = ins_duration_now() - seen;
	p->held_ns = seen + p->copy_ns - s->since;
	pthread_setcancelstate(old, NULL);
}

static void *stop_main(void *arg)
{
	struct stop *s = arg;
	struct ins_pause *p = s->pause;
	const struct sched_param first = {.sched_priority = 1};
	int status;
	pid_t got;

	/* Where we may, nobody gets the CPU while somebody is kept from it by us. */
	sched_setscheduler(0, SCHED_FIFO, &first);
	if (ptrace(PTRACE_SEIZE, p->tid, NULL, NULL) < 0) {
		p->error = -errno;
		s->end = errno == ESRCH ? INS_PAUSE_GONE : INS_PAUSE_REFUSED;
		return NULL;
	}
	s->since = ins_duration_now();
	if (ptrace(PTRACE_INTERRUPT, p->tid, NULL, NULL) < 0) {
		s->end = INS_PAUSE_GONE;
		return NULL;
	}
	do
		got = waitpid(p->tid, &status, __WALL);
	while (got < 0 && errno == EINTR);
	if (got == p->tid)
		use(s, status);
	else
		s->end = INS_PAUSE_GONE;
	return NULL;
}

size_t ins_pause_room(uint64_t stack_size)
{
	return (size_t)(stack_size < STACK_MAX ? stack_size : STACK_MAX) + INS_PAUSE_ASIDE;
}

static struct timespec in_time(void)
{
	struct timespec t;
	int64_t ns;

	clock_gettime(CLOCK_REALTIME, &t);
	ns = t.tv_nsec + PATIENCE_NS;
	return (struct timespec){t.tv_sec + ns / 1000000000, ns % 1000000000};
}

enum ins_pause_end ins_pause(struct ins_pause *pause, struct ins_pauses *count)
{
	struct stop s = {.pause = pause, .end = INS_PAUSE_LATE};
	struct timespec end = in_time();
	pthread_t thread;

	pause->held_ns = 0;
	pause->error = 0;
	if (pthread_create(&thread, NULL, stop_main, &s) != 0) {
		pause->error = -EAGAIN;
		return INS_PAUSE_REFUSED;
	}
	if (pthread_timedjoin_np(thread, NULL, &end) != 0) {
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	if (s.since && pause->held_ns) {
		count->threads++;
		count->total_ns += pause->held_ns;
		if (pause->held_ns > count->longest_ns)
			count->longest_ns = pause->held_ns;
		if (pause->copy_ns > count->copy_ns)
			count->copy_ns = pause->copy_ns;
	}
	return s.end;
}
