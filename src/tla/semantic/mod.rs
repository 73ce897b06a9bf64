//! Static checks: whether a module is TLA+, so that what SANY rejects is rejected without it. Further analyses of
//! resolved modules build on it.
//!
//! It has a grammar of its own, because the one that the rest of the crate uses for editing accepts more than the
//! language has. It knows no tool and reads no file: the caller passes the local modules.

mod analysis;
mod builtin;
mod checker_rewrite;
mod checker_text;
mod dialect;
mod expand;
mod flattened;
mod graph;
mod impure;
mod level;
mod level_module;
mod model;
mod operator;
mod operator_stack;
mod parse_bracket;
mod parse_expression;
mod parse_proof;
mod parser;
mod redefined;
mod resolve_expression;
mod resolve_instance;
mod resolve_part;
mod resolve_proof;
mod resolver;
mod smallest;
mod standard;
mod subaction;
mod symmetry;
mod term;
mod token;
mod total;
mod tree;
mod true_by_definition;
mod types;
mod typing;
mod typing_operator;
mod verdict_limits;

pub use analysis::{Analysis, analyze};
pub use checker_rewrite::{ASSUMPTION_PREFIX, LIMIT_PREFIX, UNDEFINED_PREFIX, rewrite_for_checker};
pub use checker_text::CheckerText;
pub use impure::{MODULES_WITH_SIDE_EFFECTS, impure_operators, is_impure_name};
pub use redefined::redefined_operators;
pub use smallest::smallest_constants;
pub use standard::exported_names;
pub use symmetry::find_symmetry_fault;
pub use true_by_definition::true_by_definition;
pub use typing::check_comparisons;
pub use verdict_limits::{VerdictLimits, find_verdict_limits, has_only_step_properties};
