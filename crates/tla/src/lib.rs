//! TLA+ text as data: modules and definitions, configurations, states, traces, diagnostics, and the outcome of a check.
//! Pure: it does no IO and knows no tool and no model.

mod algorithm;
mod algorithm_branches;
mod baseline;
mod bounds;
mod branch_coverage;
mod branches;
mod cfg;
mod cfg_keyword;
mod cfg_names;
pub mod changes;
#[cfg(test)]
mod changes_tests;
mod code;
mod conjuncts;
mod contract_cases;
mod contracts;
mod covers;
mod deadlock_questions;
mod declared_steps;
mod definition;
mod describe;
mod diagnostic;
mod disjuncts;
mod expected_verdict;
mod failing_assertions;
mod fairness;
mod filter_questions;
mod forbidden_blocks;
mod foreign;
mod larger_bounds;
mod layout;
mod legend;
mod lexer;
mod merge;
mod module;
mod neutral;
mod next_relation;
mod one_expression;
mod outcome;
mod outcome_status;
mod place;
mod premise_questions;
mod probe;
mod property_remarks;
mod references;
mod rename;
mod requirement_comment;
pub mod semantic;
mod settled_variables;
mod specification_formula;
mod step_counter;
mod syntax;
mod trace_module;
mod trace_text;
mod translation;
mod trivial;
mod type_moves;
mod type_walk;
mod typed_paths;
mod units;
mod unknown_labels;
mod unlisted_actions;
mod unprobed_bounds;
mod vacuity;
mod value_text;

pub use algorithm::{Algorithm, Label, Syntax};
pub use algorithm_branches::{StatementBranch, branch_name};
pub use baseline::{Baseline, Change, ChangeKind, asserting_definitions, checked_texts, covers_key};
pub use bounds::{Bounds, UntakenCase};
pub use branch_coverage::{Branch, BranchCoverage, BranchKind};
pub use branches::{ActionBranch, BranchRole};
pub use cfg::Cfg;
pub use cfg_keyword::keyword_hint;
pub use cfg_names::check_cfg_names;
pub use cfg_names::check_cfg_names_for_check;
pub use code::{code_tokens, has_pluscal_algorithm};
pub use conjuncts::{Conjunct, Exceptions, conjuncts};
pub use contract_cases::{ContractCase, contract_cases};
pub use contracts::{
    ANY_STEP, CONTRACT, Contracts, EFFECT, SAME_LABEL, StepContract, is_part_of_a_contract, read_contracts,
    usable_definitions, with_contracts,
};
pub use covers::requirements_by_definition;
pub use deadlock_questions::deadlock_questions;
pub use declared_steps::{DeclaredLabel, DeclaredProcess, DeclaredSteps, Members};
pub use definition::{Declaration, Definition, DefinitionKind};
pub use describe::{
    WITHOUT_JAVA, bounds_sentence, deadlock_sentence, describe_unreached, has_no_behaviour, never_taken_actions,
    never_taken_branches, outcome_text, outcome_text_parts, parsed_by, parsers_of, probe_lines, statistics_sentence,
    undecided_branches, verdict_sentence, verdict_with_bounds, with_checker, witness_lines,
};
pub use diagnostic::{Diagnostic, Stage};
pub use disjuncts::{Disjunct, Disjuncts};
pub use expected_verdict::ExpectedVerdict;
pub use failing_assertions::{FailingAssertion, failing_assertions};
pub use fairness::WeakFairness;
pub use forbidden_blocks::forbidden_blocks;
pub use foreign::{find_foreign_operator, find_untranslated_algorithm};
pub use larger_bounds::larger_bounds_lines;
pub use layout::{column_of, expand_tabs, offset_of_column};
pub use legend::variable_legend;
pub use lexer::{Kind, Lines, Token, lex};
pub use merge::{Merged, Sections, merge};
pub use module::{Module, ModuleError, Statement, is_module_name, module_name, with_extended};
pub use neutral::NeutralModule;
pub use one_expression::check_expression;
pub use outcome::action_part_label;
pub use outcome::{
    ASSERTION, ActionCoverage, CheckOutcome, Checker, Confirmation, DEADLOCK, FalseConjunct, FurtherProperty,
    FurtherVerdict, LargerBound, LargerBoundResult, Lasso, Reached, Statistics, Step, StepSource, TERMINATING, Trace,
    Verdict, Violation, ViolationKind, WitnessOutcome,
};
pub use outcome_status::{PropertyStatus, status_sentence};
pub use place::Place;
pub use premise_questions::{PremiseQuestions, premise_questions};
pub use probe::{ConstantProbe, FairnessProbe, ProbeResult, Probes};
pub use property_remarks::property_remarks;
pub use references::{References, references};
pub use requirement_comment::requirement_id;
pub use specification_formula::{FairAction, Fairness, SpecificationFormula};
pub use syntax::{Field, Id, MAX_DEPTH, NodeKind, Tree};
pub use trace_module::{ReplayModule, model_values};
pub use trace_text::{
    DEFAULT_WIDTH, UNLIMITED_WIDTH, acting_process, first_process, lasso_line, step_lines, step_title, trace_table,
};
pub use translation::without_translation;
pub use trivial::{constantly_true, constantly_true_under};
pub use type_walk::{PairWalk, TypeWalk, TypeWalks, change_questions, pair_walks, type_walks};
pub use units::{FoundModule, find_modules};
pub use unknown_labels::unknown_labels;
pub use unlisted_actions::unlisted_actions;
pub use unprobed_bounds::unprobed_bounds;
pub use vacuity::{Question, Subject};
pub use value_text::{ValueParts, canonical, set_elements, tuple_elements};
