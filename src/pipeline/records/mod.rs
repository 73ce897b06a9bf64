//! What a run's journal holds: the events, the structs that they carry, and the view that is folded from them. It knows
//! no policy, no folder and no driver.

mod acceptance;
mod ambiguity;
mod artifacts;
mod blind_reading;
mod candidates;
mod check;
mod check_history;
mod claims;
mod closing;
mod contracts;
mod covering;
mod event;
mod event_data;
mod interface;
mod judged_violations;
mod made_from;
mod metric_definitions;
mod metrics;
mod mutants;
mod objective;
mod objective_progress;
mod policy_events;
mod product;
mod published_claims;
mod question;
mod rank;
mod requirement_status;
mod review_history;
mod revision;
mod same_point;
mod settings;
mod specification;
mod spending;
mod trial;
mod view;
mod wording;

pub use acceptance::{NOT_FALSIFIED, NOTICED_NOTHING, PREMISE};
pub use ambiguity::{Ambiguity, Decision};
pub use artifacts::{StoredFile, file};
pub use candidates::{AbandonedCandidate, Candidate, Candidates, Chosen, ChosenBy, QuickCheck, Stage};
pub use check::{CheckRecord, OpenPointSearch};
pub use check_history::CheckHistory;
pub use claims::{CandidateClaims, CheckClaims, Claims};
pub(super) use claims::{
    ContractClaims, FormalizeClaims, InformalClaims, MergeClaims, ReviewClaims, SecondReadingClaims, ValidateClaims,
};
pub(super) use closing::{close, closed};
pub use contracts::{Agreement, StepAgreement, agreement_line};
pub(super) use event::{Draft, record, to_value};
pub use event::{Entry, EventName, Record, RunEvent};
pub(super) use event_data::AttemptStarted;
pub use event_data::{
    AnswerAccepted, AnswerFacts, AnswerLabels, AnswerNormalised, AnswerOffered, AnswerReceived, AnswerUnreadable,
    AttemptFinished, BlindReading, CallFailed, CandidateFinished, CandidateReceived, CandidateStarted, ClaimsRestored,
    Evaluation, GuardEvaluated, Labelled, LeadersSelected, ModelSwitched, MutantsJudged, PartMissing, PartTaken,
    ReadRefused, RequestPartOmitted, RequestSent, Routed, ToolFinished,
};
pub use interface::{Interface, Name};
pub use judged_violations::{JudgedViolation, ViolationJudgement};
pub use made_from::{MadeFrom, RequirementChanges};
pub use metric_definitions::{METRICS, Metric, Source, known_metrics};
pub use metrics::{Metrics, ObjectiveStep, Quantity};
pub use mutants::{
    ForbiddenExample, Judged, JudgedMutant, MutantSample, NOT_IN_TIME, NoticedIn, Round, Strengthened, Tally,
    ViolatedByTrial, unjudged_words, why_not_judged,
};
pub(super) use objective::ends_with_its_best;
pub use objective_progress::ObjectiveProgress;
pub use policy_events::{Intervened, PolicyLog, Predicted, RuleEnd, SampleResidual, Sampled, Untrusted, Violation};
pub use product::{Facts, Feedback, FurtherClaim, FurtherReading, Product, Quotes, ReplacedClaim};
pub(super) use published_claims::{claims_of, restorations, reviewed};
pub use question::{Question, Reading};
pub use rank::RevisionRank;
pub use requirement_status::{RequirementResult, RequirementStatus};
pub use review_history::{ConfirmedFlaw, JudgedClaims, ReviewHistory};
pub use revision::{CoveredRequirement, Finished, Revision};
pub use settings::{Branch, Changed, PromptInUse, Settings};
pub use specification::{Origin, Specification};
pub use spending::{Spending, Spent};
pub use trial::Strengthening;
pub use view::{InFlight, RunView};
