// SPDX-License-Identifier: MIT

//! The HTTP server of bench/table.h, one task per connection.

use std::env::var;
use std::process::{id, Command};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, RwLock};
use tokio::time::timeout;

const CONNECTIONS: usize = 100;
const KEYS: usize = 1024;
const ENTRY: usize = 64;
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n";
const ANSWER: usize = HEAD.len() + ENTRY;
const PATIENCE: Duration = Duration::from_secs(10); // until the next connection is open

type Entries = Vec<[u8; ENTRY]>;

struct Request {
    write: bool,
    key: usize,
}

fn parse(text: &[u8]) -> Request {
    let slash = text.iter().position(|&c| c == b'/').expect("the request");
    assert!(text.ends_with(b"\r\n\r\n"), "the request");
    let digits = text[slash + 1..].iter().take_while(|c| c.is_ascii_digit());
    let key = digits.fold(0, |sum, c| sum * 10 + usize::from(c - b'0'));
    Request { write: text[0] == b'P', key: key % KEYS }
}

fn read(entries: &Entries, key: usize, answer: &mut [u8; ANSWER]) {
    answer[HEAD.len()..].copy_from_slice(&entries[key]);
}

fn write(entries: &mut Entries, key: usize, answer: &mut [u8; ANSWER]) {
    let first = entries[key][0];
    entries[key].fill(if first == b'z' { b'a' } else { first + 1 });
    read(entries, key, answer);
}

enum Table {
    Mutex(Mutex<Entries>),
    RwLock(RwLock<Entries>),
}

impl Table {
    async fn answer(&self, request: &Request, answer: &mut [u8; ANSWER]) {
        match self {
            Table::Mutex(entries) if request.write => write(&mut *entries.lock().await, request.key, answer),
            Table::Mutex(entries) => read(&*entries.lock().await, request.key, answer),
            Table::RwLock(entries) if request.write => {
                write(&mut *entries.write().await, request.key, answer)
            }
            Table::RwLock(entries) => read(&*entries.read().await, request.key, answer),
        }
    }
}

/// Serve a connection until the client closes it.
async fn serve(mut stream: TcpStream, table: Arc<Table>) {
    let (mut text, mut answer) = ([0; 512], [0; ANSWER]);
    answer[..HEAD.len()].copy_from_slice(HEAD);
    loop {
        match stream.read(&mut text).await {
            Ok(0) | Err(_) => return,
            Ok(n) => table.answer(&parse(&text[..n]), &mut answer).await,
        }
        stream.write_all(&answer).await.expect("to send");
    }
}

async fn run(requests: usize, table: Table) {
    let table = Arc::new(table);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("to listen");
    let port = listener.local_addr().expect("the port").port();
    let folder = var("BENCH_PROGRAMS").expect("the folder BENCH_PROGRAMS");
    let mut client = Command::new(folder + "/table_client")
        .args([port.to_string(), CONNECTIONS.to_string(), requests.to_string(), id().to_string()])
        .spawn()
        .expect("to start table_client");
    let mut served = Vec::new();
    for _ in 0..CONNECTIONS {
        let accepted = timeout(PATIENCE, listener.accept()).await.expect("a connection");
        let (stream, _) = accepted.expect("to accept");
        stream.set_nodelay(true).expect("TCP_NODELAY");
        served.push(tokio::spawn(serve(stream, table.clone())));
    }
    for connection in served {
        connection.await.expect("a connection");
    }
    assert!(client.wait().expect("the client").success(), "table_client failed");
}

fn entries() -> Entries {
    vec![[b'a'; ENTRY]; KEYS]
}

pub async fn with_mutex(requests: usize) {
    run(requests, Table::Mutex(Mutex::new(entries()))).await
}

pub async fn with_rwlock(requests: usize) {
    run(requests, Table::RwLock(RwLock::new(entries()))).await
}
