// SPDX-License-Identifier: MIT

//! Tasks that spawn others and wait for them.

use crate::costs::{race, Costs, MANY};
use tokio::task::JoinSet;

/// work_little() of bench/shared.h
#[inline(never)]
fn little(mut x: u32) -> u32 {
    x |= 1;
    for _ in 0..50 {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    x
}

pub async fn group(count: usize) {
    let (rounds, costs) = (count / MANY, Costs::begin());
    for _ in 0..rounds {
        let mut group = JoinSet::new();
        for i in 0..MANY {
            group.spawn(async move { little(i as u32) });
        }
        while let Some(result) = group.join_next().await {
            result.expect("a member");
        }
    }
    costs.report(rounds * MANY);
}

const PARENTS: usize = 4;
const CHILDREN: usize = 10;

pub async fn spawn(count: usize) {
    let rounds = count / PARENTS / CHILDREN;
    race(PARENTS, rounds * CHILDREN, |_| async move {
        for _ in 0..rounds {
            let children: [_; CHILDREN] = std::array::from_fn(|_| tokio::spawn(async {}));
            for child in children {
                child.await.expect("a child");
            }
        }
    })
    .await;
}
