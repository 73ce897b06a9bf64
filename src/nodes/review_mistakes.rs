//! Mistakes in a review that can be read: claims without evidence, and accepted items whose reason does not hold. They go back to the
//! reviewer, all at once; no other node can mend them.

use super::flaw_facts::unfit_steps;
use super::review_answer::{ReadOptions, mistakes_in_claim};
use super::review_facts::ReviewSubject;
use crate::pipeline::{ALL_MUTANTS, AcceptedItem, Flaw, Review, ReviewVerdict, Specification, says_no_line};
use crate::prompt::{Document, LineRange, Problem, Readable, places_in, repeats_words_of};

/// The review, if it has no mistake that its author has to correct. In an answer that corrects another one, a wrong item accepts nothing,
/// and the rest counts.
pub(super) fn without_mistakes(
    mut review: Readable<Review>,
    subject: &ReviewSubject<'_>,
    documents: &[Document],
    unread: &[String],
    reading: ReadOptions,
) -> Result<Readable<Review>, Problem> {
    let mut wrong = survivor_mistakes(&review.value, documents);
    let mut mistakes = Vec::new();
    // A second claim with mistakes is refused by the guard.
    if !reading.is_correction {
        mistakes = claim_mistakes(subject, &review.value, documents, unread);
    }
    // Recordings of earlier versions quote nothing.
    if !reading.is_under_earlier_rules {
        wrong.extend(reading_mistakes(&review.value, &subject.view.specification, documents));
        if !reading.is_correction {
            mistakes.extend(step_mistakes(&review.value, documents));
        }
    }
    if reading.drops_wrong_items() {
        // The guard refuses what these items would have accepted.
        drop_items(&mut review, wrong);
    } else {
        mistakes.extend(wrong.into_iter().map(|item| item.why));
    }
    if mistakes.is_empty() { Ok(review) } else { Err(Problem::of_mistakes(&mistakes)) }
}

/// The mistakes that the reviewer has to correct in its claims of flaws. Mistakes in further claims are reported only together
/// with one in the main claim: on their own, they only deny the further claim its second reading.
pub(super) fn claim_mistakes(
    subject: &ReviewSubject<'_>,
    review: &Review,
    documents: &[Document],
    unread: &[String],
) -> Vec<String> {
    let Some(main) = review.flaw.as_ref().filter(|_| review.verdict == ReviewVerdict::Flaw) else { return Vec::new() };
    let mistakes =
        |flaw: &Flaw| mistakes_in_claim(subject, flaw, &subject.flaw_facts(flaw, documents, unread.to_vec()));
    let mut all = mistakes(main);
    if !all.is_empty() {
        let of_further = |flaw: &Flaw| {
            mistakes(flaw)
                .into_iter()
                .map(|mistake| format!("in the claim about {}: {mistake}", flaw.property))
                .collect::<Vec<_>>()
        };
        all.extend(review.further_flaws.iter().flat_map(of_further));
    }
    all
}

/// An accepted item that accepts nothing, with the reason.
struct WrongItem {
    list: &'static str,
    name: String,
    why: String,
}

/// Takes these items out of a review.
fn drop_items(review: &mut Readable<Review>, wrong: Vec<WrongItem>) {
    for WrongItem { list, name, why } in wrong {
        for (_, items) in review.value.accepted_lists_mut().into_iter().filter(|(known, _)| *known == list) {
            items.retain(|item| item.parts().0 != name);
        }
        review.normalised.push(why);
    }
}

/// The accepted blind readings without words of what each requirement of the property cites. A requirement can be weaker than its
/// sentence; the quotation shows that the reviewer looked at the sentence.
fn reading_mistakes(review: &Review, specification: &Specification, documents: &[Document]) -> Vec<WrongItem> {
    let Specification { covers, requirements, .. } = specification;
    let missing = |item: &AcceptedItem| {
        let name = item.parts().0;
        let covered = requirements.iter().filter(|r| covers.get(name).is_some_and(|ids| ids.contains(&r.id)));
        let unquoted = covered.filter(|requirement| {
            let place = requirement.place.as_deref();
            place.and_then(|place| repeats_words_of(documents, place, item.quote())) == Some(false)
        });
        let unquoted: Vec<String> = unquoted.map(|r| format!("{} [{}]", r.id, r.place_words())).collect();
        (!unquoted.is_empty()).then(|| WrongItem {
            list: "accepted_readings",
            name: name.to_owned(),
            why: format!(
                "`accepted_readings` accepts {name:?}: its `quote` has to repeat, word for word, a few words of each cited sentence, and \
                 those are missing for {} (set several quotations apart by \u{2026})",
                unquoted.join(", ")
            ),
        })
    };
    review.accepted_readings.iter().filter_map(missing).collect()
}

/// The steps of claimed flaws that cite lines which do not fit their reasons. They are sent back once.
fn step_mistakes(review: &Review, documents: &[Document]) -> Vec<String> {
    if review.verdict != ReviewVerdict::Flaw {
        return Vec::new();
    }
    let claims = review.flaw.iter().chain(&review.further_flaws);
    let unfit = |flaw: &Flaw| {
        let words = |step: String| {
            format!("in the claim about {}, {step}: cite the line that grants the step, and say why", flaw.property)
        };
        unfit_steps(flaw, documents).into_iter().map(words).collect::<Vec<_>>()
    };
    claims.flat_map(unfit).collect()
}

/// The accepted mutants whose reason neither cites a line that exists nor says that there is none.
fn survivor_mistakes(review: &Review, documents: &[Document]) -> Vec<WrongItem> {
    // A blank line or a heading decides nothing.
    let says = |place: &LineRange<'_>| {
        let mut lines = place.document.text.lines().take(place.to).skip(place.from - 1);
        lines.any(|line| line.chars().any(char::is_alphanumeric) && !line.trim_start().starts_with('#'))
    };
    let is_settled = |reason: &str| says_no_line(reason) || places_in(reason, documents, false).iter().any(says);
    let unsettled = review.accepted_survivors.iter().map(AcceptedItem::parts).filter(|(name, _)| *name != ALL_MUTANTS);
    let unsettled = unsettled.filter(|(_, reason)| !is_settled(reason.unwrap_or_default()));
    let wrong = |(name, _): (&str, _)| WrongItem {
        list: "accepted_survivors",
        name: name.to_owned(),
        why: format!(
            "`accepted_survivors` accepts {name:?}, and its reason neither cites a line of the documents, such as \
             `docs/file.md:12`, nor says `no line`"
        ),
    };
    unsettled.map(wrong).collect()
}
