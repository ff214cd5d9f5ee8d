// SPDX-License-Identifier: MIT

//! tokio's multi-thread runtime: the works of bench/libfiber/shared for which it has an object.
//!
//! The first task of a work runs on a worker, not on the thread that started the runtime.

mod channels;
mod costs;
mod locks;
mod sleepers;
mod spawns;
mod table;

use std::future::Future;
use std::process::exit;

/// Run the work's first task on that many worker threads.
fn run<F>(threads: usize, work: F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .expect("the runtime");
    runtime.block_on(async { tokio::spawn(work).await.expect("the work") });
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |i: usize| words.get(i).and_then(|w| w.parse::<usize>().ok());
    let (name, count) = match (words.get(1), number(2)) {
        (Some(name), Some(count)) => (name.as_str(), count),
        _ => usage(),
    };
    let threads = number(3).unwrap_or(1);
    match name {
        "shared-mutex" => run(threads, locks::mutex(count)),
        "shared-mutex-yield" => run(threads, locks::mutex_yield(count)),
        "shared-rwlock" => run(threads, locks::rwlock(count)),
        "shared-sem" => run(threads, locks::sem(count)),
        "shared-queue-16" => run(threads, channels::queue(count, 16, 10)),
        "shared-queue-1024" => run(threads, channels::queue(count, 1024, 10)),
        "shared-pipe-16" => run(threads, channels::pipe(count, 16)),
        "shared-broadcast" => run(threads, channels::broadcast(count)),
        "shared-group" => run(threads, spawns::group(count)),
        "shared-spawn" => run(threads, spawns::spawn(count)),
        "shared-sleepers" => run(threads, sleepers::sleepers(count)),
        "shared-table-mutex" => run(threads, table::with_mutex(count)),
        "shared-table-rwlock" => run(threads, table::with_rwlock(count)),
        _ => usage(),
    }
}

fn usage() -> ! {
    eprintln!("usage: tokio WORK COUNT [ARG]");
    exit(64)
}
