/* SPDX-License-Identifier: MIT */
/* shared.hpp - the works of bench/libfiber/shared for which boost.fiber has an object */
#ifndef BENCH_PEERS_BOOST_FIBER_SHARED_HPP
#define BENCH_PEERS_BOOST_FIBER_SHARED_HPP

void shared_mutex(long count, long threads);
void shared_mutex_yield(long count, long threads);
void shared_queue_0(long count, long threads);
void shared_queue_16(long count, long threads);
void shared_queue_1024(long count, long threads);
void shared_pipe_0(long count, long threads);
void shared_pipe_16(long count, long threads);
void shared_broadcast(long rounds, long threads);
void shared_spawn(long count, long threads);
void shared_sleepers(long fibers, long threads);

#endif
