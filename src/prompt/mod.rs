//! Prompts and answers as text: documents and exemplars in, templates rendered, answers read back.
//!
//! It knows no provider, no tool and no node: template names are paths, and what an answer means is the caller's.

mod answer;
mod documents;
mod exemplars;
mod invisible;
mod library;
mod place;
mod requirements;
mod spelling;
mod strict_json;
mod whole;

pub(crate) use answer::outside_fences;
pub use answer::{Fence, Problem, Readable, Sections, fences, json_object, module, normalise, sections};
pub use documents::{Document, Documents, DocumentsError, Skipped, index, index_path, read_documents};
pub use exemplars::{Exemplar, ExemplarsError, read_exemplars};
pub use invisible::{escape_invisible_json, show_invisible};
pub use library::{PromptError, PromptLibrary, Template};
pub use place::{line_of, look_up};
pub use requirements::{Requirement, changes, lost_requirements, requirements};
pub use whole::{Parts, parts};
