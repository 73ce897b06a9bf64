//! A thread with a runtime for the requests to a store. The callers are synchronous, and some are inside of a runtime that
//! must not run another one.

use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

#[derive(Debug)]
pub(crate) struct Executor {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Executor {
    pub(crate) fn start() -> std::io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let work = move || _ = runtime.block_on(stopped);
        let thread = std::thread::Builder::new().name("store".to_owned()).spawn(work)?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }

    /// Runs a future on the thread, and waits for its result.
    pub(crate) fn run<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> T {
        let (sender, receiver) = channel();
        self.handle.spawn(async move {
            let _ = sender.send(future.await);
        });
        receiver.recv().expect("the thread runs until this is dropped, and a request does not panic")
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
