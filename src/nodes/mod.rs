//! The nodes of the pipeline, one file each; they never import each other, except that `candidates` runs others on its
//! candidates. They share the context, requests to models, and the inspection of modules.

mod acceptance;
mod ask;
mod blind_reading;
mod candidates;
mod claim_text;
mod context;
mod denials;
mod dispatcher;
mod edited;
mod facts_text;
mod flaw_facts;
mod formalize;
mod generate_invariants;
mod informal_spec;
mod initial_states;
mod inspection;
mod intervention;
mod labelling;
mod larger_bounds;
mod larger_bounds_check;
mod model_check;
mod module_cache;
mod mutants;
mod mutants_text;
mod prediction;
mod recording;
mod review;
mod review_answer;
mod review_facts;
mod review_text;
mod sample;
mod second_reading;
mod single_call;
mod timing;
mod validate;
mod workspace;

pub use blind_reading::PURPOSE as BLIND_READING;
pub use context::{MutantSampling, NodeContext};
pub use dispatcher::NodeDispatcher;
pub use generate_invariants::covered_requirements;
pub use inspection::Inspection;
pub use module_cache::ModuleCache;
pub use recording::build_recording;
pub use single_call::PURPOSE as SINGLE_CALL;
