//! Passes a task to a child of our own program. Standard input stays open after the task, because its end is the signal
//! that the parent has ended. So the task is preceded by its length.

use std::io::Read as _;

/// What the parent writes to the standard input of the child.
pub(super) fn with_length(task: &[u8]) -> Vec<u8> {
    [&(task.len() as u64).to_le_bytes(), task].concat()
}

/// Reads the task in the child.
pub(super) fn read_task() -> std::io::Result<Vec<u8>> {
    let mut stdin = std::io::stdin().lock();
    let mut length = [0; size_of::<u64>()];
    stdin.read_exact(&mut length)?;
    let mut task = Vec::new();
    stdin.take(u64::from_le_bytes(length)).read_to_end(&mut task)?;
    Ok(task)
}
