//! Logs of agents as traces: records of several shapes become states that formulas are evaluated on.

mod block;
mod call_fields;
mod error;
mod field_reads;
mod json_lines;
mod log_summary;
mod mapping;
mod message_list;
mod missed_calls;
mod path_tree;
mod plan;
mod record_visitor;
mod shape_detection;
mod states;
mod step;
mod text_store;

pub use error::{LogError, RecordError};
pub use field_reads::{fields_read_for_value, single_value_reads};
pub(crate) use json_lines::scan_lines_for_calls;
pub use json_lines::{LONGEST_LINE, ScanOptions, scan_lines};
pub use log_summary::{LogSummary, MissedCalls, StatePlaces};
pub use mapping::{Mapping, Shape};
pub use message_list::scan_list;
pub(crate) use missed_calls::MissedCallFinder;
pub use plan::Plan;
pub use shape_detection::{ShapeFit, best_shape, detect_shape, fit_shapes};
pub use states::States;
pub use step::{BUILTIN_PREDICATES, ModelLabels, Scalar, Step};
pub use text_store::TextStore;
