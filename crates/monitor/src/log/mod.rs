//! Logs of agents as traces: records of several shapes become states that formulas are evaluated on.

mod block;
mod call_fields;
mod call_forms;
mod call_search;
mod document;
mod error;
mod field_reads;
mod json_lines;
mod live_lines;
mod log_summary;
mod mapping;
mod path_tree;
mod plan;
mod record_visitor;
mod repeated_calls;
mod shape_detection;
mod sighting;
mod simple_calls;
mod states;
mod step;
mod streamed_calls;
mod surrogates;
mod text_store;
mod value_hash;

pub use document::{document_lines, is_document, scan_list, scan_records};
pub use error::{LogError, RecordError};
pub use field_reads::{fields_read_for_value, single_value_reads};
pub use json_lines::{LONGEST_LINE, ScanOptions, scan_lines};
pub(crate) use live_lines::LiveLines;
pub use log_summary::{LogSummary, MissedCalls, NameCounts, StatePlaces};
pub use mapping::{Mapping, OtherCalls, Shape};
pub use plan::Plan;
pub use shape_detection::{ShapeFit, best_shape, detect_shape, fit_shapes};
pub use states::States;
pub use step::{BUILTIN_PREDICATES, ModelLabels, Scalar, Step};
pub use text_store::TextStore;
