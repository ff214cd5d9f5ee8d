// SPDX-License-Identifier: MIT

//! Many tasks that sleep 1-20 ms, several times each. tokio's timers count ms.

use crate::costs::{cpu, report};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, sleep_until, Instant};

const NAPS: usize = 10;

/// work_short_nap() of bench/shared.h
fn short_nap(state: &mut u32) -> Duration {
    let mut x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    Duration::from_nanos(1_000_000 + u64::from(x % 99_000) * 1000 * 19 / 99)
}

async fn nap(i: usize, mut gate: watch::Receiver<bool>) -> [f32; NAPS] {
    let (mut late, mut state) = ([0.0; NAPS], (i as u32).wrapping_mul(2_654_435_761).wrapping_add(1));
    gate.changed().await.expect("the gate");
    for one in &mut late {
        let until = Instant::now() + short_nap(&mut state);
        sleep_until(until).await;
        *one = (Instant::now() - until).as_nanos() as f32 / 1e3;
    }
    late
}

pub async fn sleepers(n: usize) {
    let (gate, shut) = watch::channel(false);
    let handles: Vec<_> = (0..n).map(|i| tokio::spawn(nap(i, shut.clone()))).collect();
    sleep(Duration::from_millis(100)).await;
    let start = cpu();
    gate.send(true).expect("a sleeper");
    let mut late = Vec::with_capacity(n * NAPS);
    for handle in handles {
        late.extend(handle.await.expect("a sleeper"));
    }
    let used = cpu() - start;
    late.sort_by(f32::total_cmp);
    report("p50", f64::from(late[late.len() / 2]));
    report("p99", f64::from(late[late.len() - 1 - late.len() / 100]));
    report("cpu", used / late.len() as f64 / 1e3);
}
