//! Prompts and answers as text: reads documents and exemplars, renders templates, and reads answers.
//!
//! It knows no provider, tool or node: template names are paths, and the caller interprets the answers.

mod answer;
mod assumptions;
mod cited_places;
mod citing_items;
mod comments;
mod content_words;
mod document_index;
mod documents;
mod drift;
mod edits;
mod exemplars;
mod fixed_names;
mod invisible_characters;
mod json_answer;
mod library;
mod list_items;
mod moved_citations;
mod nearest;
mod normative;
mod normative_sentences;
mod numbered;
mod open_points;
mod outline;
mod pairing;
mod passages;
mod place_overlap;
mod problem;
mod quote;
mod requirements;
mod scope;
mod sentences;
mod single_answer;
mod spelling;
mod strength_words;
mod strict_json;
mod template_walk;
mod unread_lines;
mod unrelated_citations;

pub use answer::outside_fences;
pub use answer::{
    Fence, NORMALISED, Sections, extract_definitions, extract_module, extract_sections, fences, normalise,
};
pub use assumptions::{Assumption, AssumptionKind, parse_assumptions};
pub use cited_places::{LineRange, check_places, places_in};
pub use citing_items::{CitingKind, documented_steps};
pub use document_index::{index_path, render_index};
pub use documents::{Document, Documents, DocumentsError, Skipped, read_documents};
pub use drift::{ChangeKind, Drift, Quoted, TextChange, compare_documents, names_of_kind};
pub use edits::{Edited, apply_edits};
pub use exemplars::{Exemplar, ExemplarsError, read_exemplars};
pub use fixed_names::{FixedNames, fixed_names};
pub use invisible_characters::{escape_invisible_json, refuse_control, show_control, show_invisible};
pub use json_answer::{extract_json_object, object_and_rest};
pub use library::{PromptError, PromptLibrary, Template};
pub use moved_citations::{EARLIER, MovedCitations};
pub use normative::{
    Account, DEFAULT_NORMATIVE_WORDS, EARLIER_NORMATIVE_WORD_COUNT, NormativeSentence, account_for, unaccounted_text,
};
pub use open_points::{DISAGREEMENT, OpenPoint, Origin, parse_open_points};
pub use place_overlap::places_overlap;
pub use problem::{Problem, Readable};
pub use quote::{quote, repeats_words_of, shares_words_with};
pub use requirements::{Requirement, marked_changes, parse_requirements, section_text, without_sections};
pub use scope::{other_concerns, out_of_scope_lines};
pub use single_answer::{AnswerParts, split_answer};
pub use strength_words::missing_strength_words;
pub use unread_lines::{prose_among_items, unread_lines};
pub use unrelated_citations::{UnrelatedCitation, unrelated_citations};
