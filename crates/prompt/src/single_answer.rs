//! Splits an answer to a single-call draft into the answers for the nodes. It does not read the parts: each node reads its
//! own, as if it had asked for it.

use super::answer::{
    Fence, NORMALISED, difference, fences, has_header, is_section, normalise, outside_fences, unwrap_outer_fence,
};
use super::problem::Problem;
use super::requirements::parse_requirements;

/// The parts of an answer, each in the form of an answer to its own request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerParts {
    /// The informal specification, or why its start or end is ambiguous.
    pub informal: Result<String, Problem>,
    /// The module, with its fences.
    pub module: Option<String>,
    /// The sections with properties, witnesses and configuration, with their fences.
    pub properties: Option<String>,
    /// Notes on the corrections that were needed.
    pub normalised: Vec<String>,
}

/// Splits an answer into parts. Does not check their content, because each node reads its own part.
pub fn split_answer(answer: &str) -> AnswerParts {
    let mut text = normalise(answer);
    let mut normalised = Vec::new();
    if text != answer {
        normalised.push(NORMALISED.to_owned());
    }
    if let Some(inner) = unwrap_outer_fence(&text) {
        text = inner;
        normalised.push("the whole answer inside a fence".to_owned());
    }
    let fences = fences(&text);
    let informal = find_informal(&text, &fences, &mut normalised);
    let join_fences = |wanted: &dyn Fn(&Fence) -> bool| {
        let all: Vec<String> = fences.iter().filter(|f| !is_informal(f) && wanted(f)).map(Fence::render).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    };
    let mut module = join_fences(&|f| !is_section(f) && (f.has_module() || f.is_named("module")));
    let outside = outside_fences(&text);
    if module.is_none() && has_header(&outside) {
        module = Some(outside);
    }
    AnswerParts { informal, module, properties: join_fences(&is_section), normalised }
}

fn is_informal(fence: &Fence) -> bool {
    fence.is_named("informal") || fence.is_named("informal_spec")
}

fn find_informal(text: &str, fences: &[Fence], normalised: &mut Vec<String>) -> Result<String, Problem> {
    let Some(at) = fences.iter().position(is_informal) else {
        // Without a fence of its own it ends where the first fenced part begins.
        let begin = fences.iter().find(|f| is_section(f) || f.has_module()).map_or(text.len(), |f| f.start);
        let before = text[..begin].trim();
        if parse_requirements(before).is_empty() {
            return Err(Problem::new("the answer has no section `informal_spec` with numbered requirements"));
        }
        normalised.push("an informal specification without a fence".to_owned());
        return Ok(format!("{before}\n"));
    };
    let fence = &fences[at];
    let doubt =
        |why: String| Err(Problem::new(format!("it is not clear where the section `informal_spec` ends: {why}")));
    if !fence.closed {
        return doubt("its fence is not closed".into());
    }
    if let Some(line) = fence.body.lines().find(|l| l.trim_start().starts_with(&fence.mark)) {
        return doubt(format!("it holds a fence as long as its own (`{}`)", line.trim()));
    }
    // A fence without a name inside the section has ended it early, and the end of that inner block looks like the start of
    // another.
    if let Some(next) = fences.get(at + 1)
        && next.info.is_empty()
        && !next.has_module()
    {
        let line = next.body.lines().find(|l| !l.trim().is_empty()).unwrap_or("").trim();
        return doubt(format!("a block without a name follows it, which begins \"{line}\""));
    }
    if let Some(other) = fences.iter().skip(at + 1).find(|f| is_informal(f) && f.body != fence.body) {
        let (one, two) = difference(&fence.body, &other.body);
        return Err(Problem::new(format!(
            "the section `informal_spec` stands twice with different content: where one says {one}, the other says {two}"
        )));
    }
    Ok(fence.body.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{extract_module, extract_sections};

    const INFORMAL: &str = "# Swap\n## Requirements\nR1 [docs/a.md:1] It holds.\n";
    const MODULE: &str = "```tla module\n---- MODULE Spec ----\nx == 1\n====\n```\n";
    const SECTIONS: &str = "```tla invariants\nTypeOK == TRUE\n```\n```tla properties\n```\n```tla witnesses\nW == x = 1\n```\n```cfg\nINVARIANT TypeOK\n```\n";

    fn whole(informal: &str) -> String {
        format!("Here it is.\n\n````markdown informal_spec\n{informal}````\n\n{MODULE}\n{SECTIONS}Done.\n")
    }

    #[test]
    fn each_part_reads_like_an_answer_of_its_own() {
        let answers = [
            whole(INFORMAL),
            whole(INFORMAL).replace("````", "```"),
            whole(INFORMAL).replace('\n', "\r\n"),
            format!("`````markdown\n{}`````", whole(INFORMAL)),
            format!("{INFORMAL}\n{MODULE}{SECTIONS}"),
            format!("{SECTIONS}{MODULE}````informal_spec\n{INFORMAL}````"),
        ];
        for answer in answers {
            let parts = split_answer(&answer);
            assert_eq!(parts.informal.as_deref(), Ok(INFORMAL), "{answer}");
            assert_eq!(extract_module(&parts.module.unwrap(), "Spec").unwrap().value.lines().count(), 3, "{answer}");
            assert_eq!(
                extract_sections(&parts.properties.unwrap()).unwrap().value.cfg,
                "INVARIANT TypeOK\n",
                "{answer}"
            );
        }
    }

    #[test]
    fn a_fence_inside_the_informal_specification_is_nested_or_a_problem() {
        let nested = "# Swap\n```text\na\n```\n## Requirements\nR1 [docs/a.md:1] It holds.\n";
        assert_eq!(split_answer(&whole(nested)).informal.as_deref(), Ok(nested));
        for (answer, expected) in [
            (whole(nested).replace("````", "```"), "fence as long as its own (````text`)"),
            (whole(&nested.replace("text", "")).replace("````", "```"), "a block without a name follows it"),
            (whole(INFORMAL).split("````\n").next().unwrap().to_owned(), "not closed"),
            (format!("{}````informal_spec\n{INFORMAL}R2: more.\n````\n", whole(INFORMAL)), "twice"),
            (format!("# Swap\n{MODULE}"), "no section `informal_spec`"),
        ] {
            let problem = split_answer(&answer).informal.unwrap_err().what;
            assert!(problem.contains(expected), "{answer}: {problem}");
        }
    }

    #[test]
    fn missing_parts_are_none() {
        let only = split_answer(&format!("````informal_spec\n{INFORMAL}````\n"));
        assert_eq!((only.module, only.properties), (None, None));
        // The node of the part rejects two different modules.
        let twice = split_answer(&format!("{}{}", whole(INFORMAL), MODULE.replace("x == 1", "x == 2")));
        assert!(extract_module(&twice.module.unwrap(), "Spec").unwrap_err().what.contains("different"));
        assert!(split_answer("").informal.is_err());
    }
}
