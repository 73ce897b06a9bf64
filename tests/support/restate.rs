//! A real Restate server on loopback, which `scripts/setup` installs, and a load balancer in front of workers.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test program uses a part of it")]

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

use super::waiting::wait_until;

/// The server; it is killed when it is dropped, and also when this process dies, because the input of its shell ends then.
pub struct RestateServer {
    child: Child,
    folder: PathBuf,
    admin: u16,
}

impl RestateServer {
    pub fn start(folder: &Path) -> Self {
        Self::start_with(folder, "")
    }

    /// With more settings of its `worker.invoker`.
    pub fn start_with(folder: &Path, invoker: &str) -> Self {
        let free = || TcpListener::bind("127.0.0.1:0").unwrap();
        let ports = [free(), free(), free()].map(|listener| listener.local_addr().unwrap().port());
        let [node, admin, ingress] = ports;
        let data = folder.join("data");
        let settings = format!(
            "bind-ip = '127.0.0.1'\nbind-port = {node}\nbase-dir = '{}'\ndisable-telemetry = true\n\
             default-num-partitions = 1\nrocksdb-total-memory-size = '64MB'\nrocksdb-disable-wal-compression = true\n\
             [admin]\nbind-port = {admin}\n[ingress]\nbind-port = {ingress}\n[worker.invoker]\n{invoker}\n",
            data.display()
        );
        std::fs::write(folder.join("restate.toml"), settings).unwrap();
        let server = Self { child: Self::spawn(folder), folder: folder.to_owned(), admin };
        // Its admin API answers earlier, when it does not know yet which node has its tables.
        wait_until("the server reads its tables", || server.reads_its_tables().unwrap_or(false));
        server
    }

    fn reads_its_tables(&self) -> std::io::Result<bool> {
        let query = r#"{"query": "SELECT COUNT(*) FROM sys_invocation"}"#;
        let mut connection = TcpStream::connect(("127.0.0.1", self.admin))?;
        write!(
            connection,
            "POST /query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{query}",
            query.len()
        )?;
        let mut reply = String::new();
        connection.read_to_string(&mut reply)?;
        Ok(reply.starts_with("HTTP/1.1 200"))
    }

    fn spawn(folder: &Path) -> Child {
        let installed = |root: &&Path| root.join("target/restate/node_modules/@restatedev").is_dir();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(installed);
        let packages = root.map(|root| root.join("target/restate/node_modules/@restatedev"));
        let package = packages.and_then(|folder| std::fs::read_dir(folder).ok()?.next());
        let package = package.expect("the Restate server: scripts/setup installs it").unwrap();
        let log = std::fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
        Command::new("sh")
            .args(["-c", "\"$@\" </dev/null & read -r end; kill -9 $!; wait", "sh"])
            .arg(package.path().join("bin/restate-server"))
            .args(["--no-logo", "--node-name", "n", "--listen-mode", "tcp", "--config-file"])
            .arg(folder.join("restate.toml"))
            .env("DO_NOT_TRACK", "1")
            // It leaves folders there when it is killed.
            .env("TMPDIR", folder)
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    /// By SIGKILL.
    pub fn kill(&mut self) {
        let _ = self.child.stdin.take().unwrap().write_all(b"\n");
        self.child.wait().unwrap();
    }

    /// Kills it, and starts it on the same folder.
    pub fn restart(&mut self) {
        self.kill();
        self.start_again();
    }

    /// Starts it on the same folder after it was killed.
    pub fn start_again(&mut self) {
        self.child = Self::spawn(&self.folder);
    }

    /// The address of its admin API.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.admin)
    }

    /// The folder of everything that it stores; what it wrote since its start is not compressed.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }
}

impl Drop for RestateServer {
    fn drop(&mut self) {
        if self.child.stdin.is_some() {
            self.kill();
        }
    }
}

/// A worker behind the load balancer.
pub struct Route {
    address: SocketAddr,
    /// Number of bytes that were sent to it.
    sent: AtomicUsize,
    held: Mutex<bool>,
    released: Condvar,
}

impl Route {
    pub fn sent(&self) -> usize {
        self.sent.load(Ordering::SeqCst)
    }

    /// Keeps back everything on the connections of this worker, in both directions, also their end. New connections go to other
    /// workers.
    pub fn hold(&self) {
        *self.held.lock().unwrap() = true;
    }

    /// Delivers what was kept back.
    pub fn release(&self) {
        *self.held.lock().unwrap() = false;
        self.released.notify_all();
    }

    fn is_held(&self) -> bool {
        *self.held.lock().unwrap()
    }

    fn wait_for_release(&self) {
        let _held = self.released.wait_while(self.held.lock().unwrap(), |held| *held).unwrap();
    }
}

/// The workers that are known so far.
type Routes = Arc<Mutex<Vec<Arc<Route>>>>;

/// Gives each connection to the next worker that accepts it.
pub struct LoadBalancer {
    address: SocketAddr,
    workers: Routes,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LoadBalancer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (workers, ending): (Routes, Arc<AtomicBool>) = (Arc::default(), Arc::default());
        let (own_workers, own_ending) = (workers.clone(), ending.clone());
        let thread = std::thread::spawn(move || {
            for (turn, client) in listener.incoming().enumerate() {
                if own_ending.load(Ordering::SeqCst) {
                    return;
                }
                let mut workers = own_workers.lock().unwrap().clone();
                if !workers.is_empty() {
                    let first = turn % workers.len();
                    workers.rotate_left(first);
                }
                let reachable = workers.into_iter().filter(|route| !route.is_held());
                let connected =
                    reachable.map(|route| (TcpStream::connect(route.address), route)).find(|(to, _)| to.is_ok());
                if let (Ok(client), Some((Ok(worker), route))) = (client, connected) {
                    // As a load balancer does: otherwise small messages wait 40 ms for an acknowledgement.
                    let _ = (client.set_nodelay(true), worker.set_nodelay(true));
                    copy(client.try_clone().unwrap(), worker.try_clone().unwrap(), route.clone(), true);
                    copy(worker, client, route, false);
                }
            }
        });
        Self { address, workers, ending, thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn add(&self, worker: SocketAddr) -> Arc<Route> {
        let (sent, held, released) = (AtomicUsize::new(0), Mutex::new(false), Condvar::new());
        let route = Arc::new(Route { address: worker, sent, held, released });
        self.workers.lock().unwrap().push(route.clone());
        route
    }
}

impl Drop for LoadBalancer {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().unwrap().join();
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, route: Arc<Route>, to_worker: bool) {
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(size @ 1..) = from.read(&mut buffer) {
            route.wait_for_release();
            if to_worker {
                route.sent.fetch_add(size, Ordering::SeqCst);
            }
            if to.write_all(&buffer[..size]).is_err() {
                break;
            }
        }
        route.wait_for_release();
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}
