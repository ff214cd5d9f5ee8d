// SPDX-License-Identifier: MIT

//! Channels between tasks. A channel of tokio has room and one receiver; several share it under a
//! mutex.

use crate::costs::{race, Costs, MANY};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use tokio::sync::{mpsc, watch, Mutex, Notify};

pub async fn queue(count: usize, capacity: usize, n: usize) {
    let (sender, receiver) = mpsc::channel(capacity);
    let (receiver, turns) = (Arc::new(Mutex::new(receiver)), count / n);
    let receivers: Vec<_> = (0..n)
        .map(|_| {
            let receiver = receiver.clone();
            tokio::spawn(async move {
                for _ in 0..turns {
                    receiver.lock().await.recv().await.expect("an element");
                }
            })
        })
        .collect();
    race(n, turns, |_| send(sender.clone(), turns)).await;
    for receiver in receivers {
        receiver.await.expect("a receiver");
    }
}

async fn send(sender: mpsc::Sender<usize>, turns: usize) {
    for i in 0..turns {
        sender.send(i).await.expect("a receiver");
    }
}

pub async fn pipe(count: usize, capacity: usize) {
    let (sender, mut receiver) = mpsc::channel(capacity);
    let receiver = tokio::spawn(async move {
        for _ in 0..count {
            receiver.recv().await.expect("an element");
        }
    });
    race(1, count, |_| send(sender.clone(), count)).await;
    receiver.await.expect("the receiver");
}

/// A watch, which wakes all tasks that wait for its next value, takes the place of the condition.
pub async fn broadcast(rounds: usize) {
    let (round, seen) = watch::channel(0);
    let (back, all_back) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let handles: Vec<_> = (0..MANY)
        .map(|_| {
            let (mut seen, back, all_back) = (seen.clone(), back.clone(), all_back.clone());
            tokio::spawn(async move {
                for _ in 0..rounds {
                    if back.fetch_add(1, Ordering::SeqCst) + 1 == MANY {
                        all_back.notify_one();
                    }
                    seen.changed().await.expect("a round");
                }
            })
        })
        .collect();
    let costs = Costs::begin();
    for i in 0..rounds {
        all_back.notified().await;
        back.store(0, Ordering::SeqCst);
        round.send(i + 1).expect("a task");
    }
    for handle in handles {
        handle.await.expect("a task");
    }
    costs.report(rounds);
}
