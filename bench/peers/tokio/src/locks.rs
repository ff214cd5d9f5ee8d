// SPDX-License-Identifier: MIT

//! Tasks that use one mutex, readers-writer lock or semaphore: those of tokio, which suspend a task.

use crate::costs::{race, ENDS, MANY};
use std::sync::Arc;
use tokio::sync::{Mutex, RwLock, Semaphore};
use tokio::task::yield_now;

pub async fn mutex(count: usize) {
    let (table, turns) = (Arc::new(Mutex::new(0u64)), count / 2);
    race(2, turns, |_| {
        let table = table.clone();
        async move {
            for _ in 0..turns {
                *table.lock().await += 1;
            }
        }
    })
    .await;
    assert_eq!(*table.lock().await, 2 * turns as u64);
}

pub async fn mutex_yield(count: usize) {
    let (table, turns) = (Arc::new(Mutex::new(0u64)), count / MANY);
    race(MANY, turns, |_| {
        let table = table.clone();
        async move {
            for i in 0..turns {
                let mut entries = table.lock().await;
                *entries += 1;
                if i % 8 == 0 {
                    yield_now().await;
                }
            }
        }
    })
    .await;
}

pub async fn rwlock(count: usize) {
    let (readable, turns) = (Arc::new(RwLock::new(())), count / 2);
    race(2, turns, |_| {
        let readable = readable.clone();
        async move {
            for _ in 0..turns {
                drop(readable.read().await);
            }
        }
    })
    .await;
}

pub async fn sem(count: usize) {
    let (places, turns) = (Arc::new(Semaphore::new(2)), count / ENDS);
    race(ENDS, turns, |_| {
        let places = places.clone();
        async move {
            for i in 0..turns {
                let _place = places.acquire().await.expect("a place");
                if i % 8 == 0 {
                    yield_now().await;
                }
            }
        }
    })
    .await;
}
