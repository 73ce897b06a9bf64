//! The modules that were parsed last. Several nodes read the same text one after the other, and besides the tools and
//! the disk, parsing is the most expensive step of a run.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::tla::{Module, ModuleError};

/// Two versions, each as source and with its translation.
const CAPACITY: usize = 4;

/// Parsed modules by their text.
#[derive(Debug, Default)]
pub struct ModuleCache {
    modules: Mutex<VecDeque<Arc<Module>>>,
}

impl ModuleCache {
    /// Parses the text, or returns the module that it was parsed to before.
    pub fn parse(&self, text: &str) -> Result<Arc<Module>, ModuleError> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = modules.iter().find(|module| module.source == text) {
            return Ok(Arc::clone(known));
        }
        let module = Arc::new(Module::parse(text)?);
        modules.truncate(CAPACITY - 1);
        modules.push_front(Arc::clone(&module));
        Ok(module)
    }
}
