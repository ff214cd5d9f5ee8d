// SPDX-License-Identifier: MIT

//! What the operations of tasks cost that start together.

use std::future::Future;
use std::time::Instant;

pub const MANY: usize = 100;
pub const ENDS: usize = 10;

/// CPU time of the process in ns.
pub fn cpu() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 * 1e9 + t.tv_nsec as f64
}

pub fn report(name: &str, value: f64) {
    println!("{} {:.6}", name, value);
}

pub struct Costs {
    now: Instant,
    cpu: f64,
}

impl Costs {
    pub fn begin() -> Costs {
        Costs { now: Instant::now(), cpu: cpu() }
    }

    /// Report the wall-clock time and the CPU time since then for each of n operations.
    pub fn report(&self, n: usize) {
        report("ns", self.now.elapsed().as_nanos() as f64 / n as f64);
        report("cpu", (cpu() - self.cpu) / n as f64);
    }
}

/// Run `make(i)` in n tasks, each with that many operations, and report what an operation costs.
pub async fn race<F>(n: usize, turns: usize, make: impl Fn(usize) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let costs = Costs::begin();
    let handles: Vec<_> = (0..n).map(|i| tokio::spawn(make(i))).collect();
    for handle in handles {
        handle.await.expect("a task");
    }
    costs.report(n * turns);
}
