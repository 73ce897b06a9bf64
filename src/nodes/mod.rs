//! The six nodes at work, one file each; they never import each other. What they share is the desk: asking a model
//! and keeping what it answered.

mod candidates;
mod crew;
mod desk;
mod facts;
mod formalize;
mod generate_invariants;
mod informal_spec;
mod inspection;
mod intervene;
mod label;
mod model_check;
mod predict;
mod recording;
mod review;
mod review_text;
mod second_reading;
mod shelf;
mod strengthen;
mod survivors;
mod timing;
mod validate;
mod whole;
mod workspace;

pub use crew::Crew;
pub use desk::Desk;
pub use generate_invariants::covers;
pub use inspection::Inspection;
pub use recording::recording_of;
pub use shelf::Shelf;
