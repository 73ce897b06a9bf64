//! The modules that the nodes looked at last: several look at the same text one after the other, and reading it is
//! what costs most in a run besides the tools and the disk.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::tla::{Module, ModuleError};

/// A source and its translated form, twice.
const PLACES: usize = 4;

/// A few modules as data, by their text.
#[derive(Debug, Default)]
pub struct Shelf {
    modules: Mutex<VecDeque<Arc<Module>>>,
}

impl Shelf {
    /// The module that stands in this text.
    pub fn module(&self, text: &str) -> Result<Arc<Module>, ModuleError> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = modules.iter().find(|module| module.source == text) {
            return Ok(Arc::clone(known));
        }
        let module = Arc::new(Module::parse(text)?);
        modules.truncate(PLACES - 1);
        modules.push_front(Arc::clone(&module));
        Ok(module)
    }
}
