//! The grammar of TLA+ and PlusCal, and the static checks: whether SANY would accept a module. Further analyses of
//! resolved modules build on them.
//!
//! `Reader` parses single units for the rest of the crate, so an error affects only its unit. This module knows no tool
//! and reads no file: the caller passes the local modules.

mod analysis;
mod builtin;
mod concrete;
mod concrete_expression;
mod concrete_pluscal;
mod core_form;
mod elaborate;
mod elaborate_call;
mod elaborate_expression;
mod elaborate_scope;
mod elaborate_strict;
mod elaborator;
mod enforced;
mod expand;
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
mod view;

pub use analysis::{Analysis, analyze};
pub(crate) use concrete::Reader;
pub use core_form::{
    Assumption, Constant, Core, CoreBody, CoreBound, CoreDefinition, CoreExpr, CoreForm, CoreStep, CoreUpdate,
    ModuleOutline, OutlineSymbol, Primitive,
};
pub use elaborate::{elaborate, elaborate_with_operators};
pub use enforced::enforced_properties;
pub use graph::Place;
pub use impure::{MODULES_WITH_SIDE_EFFECTS, impure_operators, is_impure_name};
pub use operator::{Operator, find_operator};
pub(crate) use parser::is_expression;
pub use redefined::redefined_operators;
pub use smallest::smallest_constants;
pub use standard::{exported_names, is_in_every_tools_jar, is_standard_module};
pub use symmetry::find_symmetry_fault;
pub(crate) use token::{based_number_length, is_reserved, module_begin, spelling_length};
pub use true_by_definition::true_by_definition;
pub use types::model_value_type;
pub use typing::find_type_error;
pub use verdict_limits::{VerdictLimits, find_verdict_limits, has_only_start_and_step_properties};
pub use view::find_view_fault;
