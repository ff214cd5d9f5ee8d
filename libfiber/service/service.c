/* SPDX-License-Identifier: MIT */
/*
 * service.c - the service thread
 *
 * It must answer while every carrier spins or hangs, so it shares no lock with them. It reads
 * records without locks, waits in one poll(), and does all other work in short pieces between two
 * ticks of the coarse clock.
 *
 * It must cost nothing while the program sleeps. When fib_tick() reports that all carriers sleep,
 * the thread waits without a timeout for the waker or a client. A carrier may wake between that
 * report and the wait. It writes to the eventfd, which stays readable, so the wait returns at once.
 *
 * If no CPU is free, answers take CPU time from the program. They keep to a budget (cpu_budget.c),
 * with pauses.
 *
 * A forked child has no service thread, and the descriptors belong to its parent. The child closes
 * them, drops the state and may start again. The socket's file is the parent's.
 */
#include "service/service.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "base/atomic.h"
#include "core/registry.h"
#include "os/local.h"
#include "os/os.h"
#include "sched/observer.h"
#include "service/cpu_budget.h"
#include "service/answer.h"
#include "service/audit.h"
#include "service/tick_timer.h"
#include "service/control_socket.h"
#include "service/kept.h"
#include "service/launch.h"
#include "service/maps.h"
#include "service/peer.h"
#include "service/recording.h"
#include "service/serve.h"
#include "service/waker.h"
#include "stack/guard.h"
#include "watch/longrun.h"
#include "watch/profile.h"
#include "watch/tick.h"

#define ACCEPT_PAUSE INT64_C(1000000000) /* ns; if the process has no descriptors left */
#define PEERS	     16
#define GUARDS	     128	       /* separated at once, 4 us each ... */
#define GUARDS_EVERY INT64_C(20000000) /* ... this often, ns */

enum {
	SLOT_EVENT,
	SLOT_CONTROL_SOCKET,
	SLOT_TICK_TIMER,
	SLOT_PEERS = SLOT_TICK_TIMER + FIB_TICK_TIMER_SLOTS,
	SLOTS = SLOT_PEERS + PEERS
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for enter and leave; never the thread */
static unsigned users;					 /* L */
static pthread_t thread;				 /* L */
static _Atomic bool stop;				 /* A */
static struct fib_launch launch;			 /* see launch.h */

/* T only the service thread, while it runs */
static struct fib_control_socket control_socket = {.fd = -1};
static struct fib_tick_timer tick_timer = {.fd = {-1, -1}};
static struct fib_peer peers[PEERS];
static int64_t next_tick;    /* INT64_MAX: resting */
static int64_t accept_after; /* 0: at once */
static struct fib_cpu_budget cpu_budget;
static bool resting;	  /* every carrier sleeps: ticks are only for guards, until one wakes */
static int64_t guards_at; /* not before */

/* Make some guards of stacks mappings of their own (stack/guard.c). Returns the pause until the next
 * tick; 0: none is needed. */
static int64_t separate_guards(int64_t now, int64_t pause)
{
	if (now >= guards_at) {
		fib_guard_separate(GUARDS);
		guards_at = now + GUARDS_EVERY;
	}
	return !pause && fib_guard_waits() ? GUARDS_EVERY : pause;
}

static void tick(int64_t now)
{
	int64_t pause;

	/* While all carriers sleep, the end of a profile needs a tick of its own. */
	if (now < next_tick && now < fib_profile_ends())
		return;
	pause = fib_tick(now);
	resting = !pause;
	fib_recording_look(now);
	pause = separate_guards(now, pause);
	next_tick = fib_tick_timer_next(&tick_timer, now, pause);
}

/* -- waiting -- */

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The end of the pause of a client, or of a new one (NULL), for the carriers' sake. */
static int64_t pause_of(const struct fib_peer *peer)
{
	return fib_cpu_budget_until(&cpu_budget, peer && peer->granted);
}

/*
 * When to wake for a client. One that must pause and has no grant is served at the next tick, which
 * wakes the thread anyway (cpu_budget.c).
 */
static int64_t wake_for(const struct fib_peer *peer, int64_t now)
{
	const int64_t until = pause_of(peer);

	if (until <= now || (peer && peer->granted) || next_tick == INT64_MAX)
		return until;
	return next_tick;
}

static int64_t wait_until(int64_t now)
{
	int64_t until = next_tick;
	int i;

	if (accept_after && accept_after < until)
		until = accept_after;
	until = sooner(until, fib_profile_ends());
	if (now < pause_of(NULL) && wake_for(NULL, now) < until)
		until = wake_for(NULL, now);
	for (i = 0; i < PEERS; i++) {
		if (peers[i].fd < 0)
			continue;
		if (fib_peer_busy(&peers[i]))
			until = sooner(until,
				       later(wake_for(&peers[i], now), fib_maps_until(&peers[i])));
		if (peers[i].deadline < until)
			until = peers[i].deadline;
	}
	if (until >= next_tick && fib_tick_timer_sure(&tick_timer, next_tick))
		until = INT64_MAX;
	/*
	 * Without a waker (the program has closed its descriptor) the wait is limited to one tick.
	 */
	if (fib_waker_fd() < 0 && until > now + FIB_TICK)
		until = now + FIB_TICK;
	return until;
}

static void fill(struct pollfd slots[SLOTS], int64_t now)
{
	int i;

	slots[SLOT_EVENT] = (struct pollfd){.fd = fib_waker_fd(), .events = POLLIN};
	slots[SLOT_CONTROL_SOCKET] =
		(struct pollfd){.fd = accept_after || now < pause_of(NULL) ? -1 : control_socket.fd,
				.events = POLLIN};
	fib_tick_timer_fill(&tick_timer, &slots[SLOT_TICK_TIMER]);
	for (i = 0; i < PEERS; i++) {
		slots[SLOT_PEERS + i].fd = peers[i].fd;
		slots[SLOT_PEERS + i].events = peers[i].fd < 0 || now < pause_of(&peers[i])
						       ? 0
						       : fib_peer_events(&peers[i]);
		slots[SLOT_PEERS + i].revents = 0;
	}
}

/* -- clients -- */

/* Account for clients served since this thread's CPU time was `cpu`. Returns the current time. */
static int64_t spent(int64_t cpu, bool granted)
{
	int64_t now = fib_os_now();

	fib_cpu_budget_spend(&cpu_budget, fib_cpu_budget_cpu() - cpu, granted, now);
	return now;
}

/*
 * Find a place for a new peer. If all are taken, close the one that has owed its request, or left
 * its answer unread, for the longest time, so that silent connections cannot shut out a user. NULL:
 * all peers are being served.
 */
static struct fib_peer *find_slot(void)
{
	struct fib_peer *victim = NULL;
	int i;

	for (i = 0; i < PEERS; i++) {
		if (peers[i].fd < 0)
			return &peers[i];
		if (!fib_peer_busy(&peers[i]) && (!victim || peers[i].deadline < victim->deadline))
			victim = &peers[i];
	}
	if (victim)
		fib_peer_close(victim);
	return victim;
}

static void admit(int fd, const struct fib_os_who *who, int64_t now)
{
	struct fib_peer *place = find_slot();

	if (!place)
		fib_peer_turn_away(fd, -EBUSY, "too many clients at once: try again");
	else if (fib_peer_open(place, fd, now) < 0)
		fib_peer_turn_away(fd, -ENOMEM, "this process has no memory left to answer");
	else {
		/* It was accepted non-blocking, and this thread blocks SIGPIPE. */
		place->plain = true;
		place->who = *who;
	}
}

/*
 * Accept one: poll() reports if there are more, and a connection costs the carriers as much as a
 * turn.
 */
static void accept_one(int64_t now)
{
	int64_t cpu = fib_cpu_budget_cpu();
	struct fib_os_who who;
	int fd = fib_control_socket_accept(&control_socket, &who);

	if (fd >= 0)
		admit(fd, &who, now);
	else if (fd != -EAGAIN)
		accept_after = now + ACCEPT_PAUSE;
	spent(cpu, false);
}

/*
 * Handle what poll() reports of the service's own descriptors. POLLNVAL: the program has closed it.
 * The number may be reused, so it is dropped and not touched again.
 */
static void look_at(const struct pollfd slots[SLOTS], int64_t now)
{
	if (slots[SLOT_EVENT].revents & POLLNVAL)
		fib_waker_lose();
	else if (slots[SLOT_EVENT].revents) {
		fib_waker_clear();
		if (resting)
			next_tick = now;
		resting = false;
	}
	fib_tick_timer_look(&tick_timer, &slots[SLOT_TICK_TIMER]);
	if (slots[SLOT_CONTROL_SOCKET].revents & POLLNVAL)
		control_socket.fd = -1;
	else if (slots[SLOT_CONTROL_SOCKET].revents)
		accept_one(now);
	if (accept_after && now >= accept_after)
		accept_after = 0;
}

/* Whether there is work for this peer. Usually it is only connected. */
static bool wants_turn(const struct fib_peer *peer, short revents, int64_t now)
{
	if ((revents & (POLLERR | POLLHUP | POLLNVAL)) || now >= peer->deadline)
		return true;
	return now >= pause_of(peer) &&
	       (revents || (fib_peer_busy(peer) && now >= fib_maps_until(peer)));
}

/* Returns the time afterwards. */
static int64_t serve_peer(struct fib_peer *peer, short revents, int64_t now)
{
	int64_t cpu = fib_cpu_budget_cpu();

	fib_peer_turn(peer, revents, fib_cpu_budget_pays(&cpu_budget), now);
	now = spent(cpu, peer->granted); /* its first request may just have said so */
	tick(now);
	return now;
}

/*
 * Serve the peers in rotation, also across pauses, so that the first cannot take all turns. Returns
 * the time afterwards.
 */
static int64_t serve_peers(const struct pollfd slots[SLOTS], int64_t now)
{
	static unsigned next;
	const unsigned first = next;
	unsigned i;

	for (i = 0; i < PEERS; i++) {
		const unsigned at = (first + i) % PEERS;
		const struct pollfd *slot = &slots[SLOT_PEERS + at];

		/* A peer that was just admitted has no slot yet. */
		if (peers[at].fd < 0 || peers[at].fd != slot->fd)
			continue;
		if (!wants_turn(&peers[at], slot->revents, now))
			continue;
		now = serve_peer(&peers[at], slot->revents, now);
		next = at + 1;
	}
	return now;
}

/* A sandbox refuses poll: close the control socket and only keep the clock. */
static void wait_for_clock(struct pollfd slots[SLOTS], int64_t now)
{
	int i;

	fib_control_socket_shut(&control_socket, "ppoll and poll");
	for (i = 0; i < SLOTS; i++)
		slots[i].revents = 0;
	next_tick = later(next_tick == INT64_MAX ? 0 : next_tick, now + FIB_TICK);
	fib_launch_sleep(&launch, next_tick);
}

static void *serve(void *arg)
{
	struct pollfd slots[SLOTS];
	int64_t now = fib_os_now();

	(void)arg;
	fib_cpu_budget_begin(&cpu_budget, now);
	fib_os_thread_name("fiber-service");
	fib_launch_done(&launch);
	/* pairs: service.stop -- only the flag itself. */
	while (!fib_load_acquire(&stop)) {
		tick(now);
		fill(slots, now);
		if (fib_os_is_refusal(fib_os_poll(slots, SLOTS, wait_until(now))))
			wait_for_clock(slots, now);
		now = fib_os_now();
		look_at(slots, now);
		now = serve_peers(slots, now);
	}
	return NULL;
}

/* -- life -- */

/* The thread that would do it at the end of the lease has ended. */
static void end_profile(void)
{
	fib_tick_lock();
	fib_profile_end();
	fib_tick_unlock();
}

/* In a forked child: drop everything, it is the parent's. */
static void forget(void)
{
	int i;

	pthread_mutex_init(&lock, NULL);
	users = 0;
	fib_guard_defer(false);
	fib_waker_forget();
	fib_tick_timer_close(&tick_timer);
	fib_kept_close();
	if (control_socket.fd >= 0)
		fib_os_close(control_socket.fd);
	control_socket.fd = -1;
	control_socket.shut = false;
	for (i = 0; i < PEERS; i++)
		fib_peer_end(&peers[i]);
	fib_audit_forget();
	fib_recording_forget();
}

static void close_all(void)
{
	int i;

	fib_waker_close();
	fib_tick_timer_close(&tick_timer);
	fib_kept_close();
	for (i = 0; i < PEERS; i++)
		fib_peer_end(&peers[i]);
	fib_control_socket_close(&control_socket);
}

static int start(const char *path, const char *name)
{
	static bool watching_forks;
	struct fib_socket_path place;
	int i, rc;

	for (i = 0; i < PEERS; i++)
		peers[i].fd = -1;
	if (!watching_forks)
		watching_forks = pthread_atfork(NULL, NULL, forget) == 0;
	rc = fib_waker_open();
	if (rc < 0)
		return rc;
	fib_store(&stop, false);
	next_tick = accept_after = 0;
	fib_tick_timer_open(&tick_timer);
	fib_longrun_set_pipe(fib_kept_pipe_now);
	/* Both have printed why they failed; the program goes on without. */
	control_socket.fd = -1;
	if (fib_socket_path_choose(&place, path, getpid()) == 0 && place.wanted)
		fib_control_socket_open(&control_socket, &place);
	fib_kept_open(control_socket.fd >= 0);
	fib_answer_introduce(name ? name : fib_os_program(), place.mode);
	fib_observer_set_waker(fib_waker_wake);
	rc = fib_launch(&launch, &thread, serve, NULL);
	if (rc < 0)
		close_all();
	else
		fib_registry_thread_waits(true);
	fib_guard_defer(rc == 0);
	return rc;
}

int fib_service_enter(const char *path, const char *name)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!users)
		rc = start(path, name);
	if (rc == 0)
		users++;
	pthread_mutex_unlock(&lock);
	return rc;
}

void fib_service_leave(void)
{
	pthread_mutex_lock(&lock);
	/* A forked child that finishes its parent's runtime finds users at 0. */
	if (users && --users == 0) {
		/* label: service.stop */
		fib_store_release(&stop, true);
		fib_waker_wake();
		pthread_join(thread, NULL);
		end_profile();
		fib_registry_thread_waits(false);
		fib_guard_defer(false);
		close_all();
	}
	pthread_mutex_unlock(&lock);
}
