//! Prompts and answers as text: reads documents and exemplars, renders templates, and reads answers.
//!
//! It knows no provider, tool or node: template names are paths, and the caller interprets the answers.

mod answer;
mod assumptions;
mod cited_places;
mod citing_items;
mod comments;
mod document_index;
mod documents;
mod drift;
mod edits;
mod exemplars;
mod fixed_names;
mod invisible_characters;
mod library;
mod moved_citations;
mod nearest;
mod normative;
mod numbered;
mod open_points;
mod pairing;
mod passages;
mod problem;
mod quote;
mod requirements;
mod single_answer;
mod spelling;
mod strict_json;

pub use answer::outside_fences;
pub use answer::{
    Fence, NORMALISED, Sections, extract_json_object, extract_module, extract_sections, fences, normalise,
};
pub use assumptions::{Assumption, AssumptionKind, malformed_assumptions, parse_assumptions};
pub use cited_places::{LineRange, check_places, places_in};
pub use citing_items::CitingKind;
pub use document_index::{index_path, render_index};
pub use documents::{Document, Documents, DocumentsError, Skipped, read_documents};
pub use drift::{ChangeKind, Drift, OtherHeading, Quoted, TextChange, compare_documents, names_of_kind};
pub use edits::apply_edits;
pub use exemplars::{Exemplar, ExemplarsError, read_exemplars};
pub use fixed_names::{FixedNames, fixed_names};
pub use invisible_characters::{escape_invisible_json, show_invisible};
pub use library::{PromptError, PromptLibrary, Template};
pub use moved_citations::{EARLIER, MovedCitations};
pub use normative::{
    Account, DEFAULT_NORMATIVE_WORDS, NormativeSentence, account_for, out_of_scope_lines, unaccounted_text,
};
pub use open_points::{OpenPoint, malformed_open_points, parse_open_points};
pub use problem::{Problem, Readable};
pub use quote::quote;
pub use requirements::{Requirement, malformed_requirements, marked_changes, parse_requirements, without_sections};
pub use single_answer::{AnswerParts, split_answer};
