//! The built-in example of `tlaforge demo`: documents, checklist and recording of a token swap.

use super::failure::{Fails, Failure};
use crate::exit::Exit;
use crate::llm::Recording;

pub(super) const EXAMPLE_DOCS: [(&str, &str); 2] = [
    ("guarantees.md", include_str!("../../evals/uniswap_swap/docs/guarantees.md")),
    ("pool.md", include_str!("../../evals/uniswap_swap/docs/pool.md")),
];
pub(super) const EXAMPLE_CHECKLIST: &str = include_str!("../../evals/uniswap_swap/checklist.json");
const RECORDING: &str = include_str!("../../evals/uniswap_swap/recording/run.jsonl");

pub(super) fn example_recording() -> Result<Recording, Failure> {
    Recording::parse("of the swap example", RECORDING).fails(Exit::Defect)
}
