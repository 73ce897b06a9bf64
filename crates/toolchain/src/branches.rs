//! The branches of the actions of a specification: where each is in the user's file, and the state predicate that a
//! step can take it. It starts no run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use tlaforge_pluscal::Origins;
use tlaforge_tla::{
    ActionBranch, Branch, BranchCoverage, BranchKind, BranchRole, Disjunct, Disjuncts, Lines, Module, Place, Reached,
    StatementBranch, WitnessOutcome, branch_name, column_of, lex, offset_of_column,
};

use super::CheckRequest;
use super::plan::free_name;
use super::positions::{same_lines, translations};

/// Limit on the branches of one search; each that is never taken is evaluated in every state.
const MAX_SEARCHED: usize = 100;

pub(super) struct Branches {
    prefix: String,
    /// Definitions that the formulas use.
    pub(super) definitions: String,
    /// Each branch of the text once.
    all: Vec<TextBranch>,
    occurrences: Vec<Occurrence>,
    /// For each action that is only a part of a definition, the name of this part.
    parts: Vec<Option<(String, Place)>>,
}

/// A branch of the text. A macro or a definition that several actions use has its branches in each of them.
struct TextBranch {
    branch: Branch,
    /// Whether it is worth a mention if it is never taken.
    is_listed: bool,
    /// Whether its name comes from the user's text, not from a translation.
    has_own_name: bool,
}

/// A branch in an action.
struct Occurrence {
    /// The index of the action.
    action: usize,
    /// Index in `all`; `None` for an alternative of a condition.
    branch: Option<usize>,
    /// The branch around it, and the first of the choice that it belongs to, by index among the occurrences.
    parent: Option<usize>,
    choice: usize,
    formula: Option<String>,
}

impl Branches {
    /// The branches that a check searches for; `None` if there are none. An error says why it does not.
    pub(super) fn list(request: &CheckRequest) -> Result<Option<Self>, String> {
        let branches = Self::read(request)?;
        if branches.all.is_empty() {
            return Ok(None);
        }
        if branches.all.len() > MAX_SEARCHED {
            return Err(format!("there are more than {MAX_SEARCHED}"));
        }
        if !request.cfg.action_constraints.is_empty() {
            return Err("an action constraint decides which steps are taken".to_owned());
        }
        Ok(Some(branches))
    }

    /// All branches, of the actions in the order in which [`Disjuncts::split`] lists them.
    pub(super) fn read(request: &CheckRequest) -> Result<Self, String> {
        let CheckRequest { spec, cfg, .. } = request;
        let module = Module::parse(&spec.text).map_err(|e| e.to_string())?;
        let prefix = free_name(spec, "TlaforgeBranch".to_owned());
        let disjuncts = Disjuncts::split_with_branches(&module, cfg, &prefix)?;
        let source = Source::new(&module);
        let parts = source.part_names(&disjuncts.actions);
        let Disjuncts { definitions, actions } = disjuncts;
        let mut branches = Self { prefix, definitions, all: Vec::new(), occurrences: Vec::new(), parts };
        for (index, action) in actions.iter().enumerate() {
            branches.add_action(&source, (index, &action.name), &action.branches);
        }
        Ok(branches)
    }

    fn add_action(&mut self, source: &Source<'_>, (index, action): (usize, &str), found: &[ActionBranch]) {
        let first = self.occurrences.len();
        for (number, branch) in found.iter().enumerate() {
            let is_sibling = |other: &&ActionBranch| other.choice == branch.choice && other.parent == branch.parent;
            let siblings: Vec<&ActionBranch> = found.iter().filter(is_sibling).collect();
            let choice = found.iter().position(|other| is_sibling(&other)).unwrap_or(number);
            let known = source.locate(action, branch, &siblings).map(|new| {
                let is_same =
                    |known: &TextBranch| (known.branch.kind, known.branch.place) == (new.branch.kind, new.branch.place);
                self.all.iter().position(is_same).unwrap_or_else(|| {
                    self.all.push(new);
                    self.all.len() - 1
                })
            });
            self.occurrences.push(Occurrence {
                action: index,
                branch: known,
                parent: branch.parent.map(|parent| first + parent),
                choice: first + choice,
                formula: branch.formula.clone(),
            });
        }
    }

    /// Whether the actions of steps have branches or parts to name.
    pub(super) fn can_name_steps(&self) -> bool {
        !self.all.is_empty() || self.parts.iter().any(Option::is_some)
    }

    /// The actions restricted to one branch, by number.
    pub(super) fn formulas(&self) -> impl Iterator<Item = (usize, &str)> {
        let formulas = self.occurrences.iter().enumerate().filter(|(_, occurrence)| occurrence.branch.is_some());
        formulas.filter_map(|(number, occurrence)| Some((number, occurrence.formula.as_deref()?)))
    }

    pub(super) fn formula(&self, number: usize) -> &str {
        self.occurrences.get(number).and_then(|occurrence| occurrence.formula.as_deref()).unwrap_or("FALSE")
    }

    /// The name and the place of the branch that explains a step of this action. `explains` is the truth value of a formula by number,
    /// and `None` if it is not known.
    pub(super) fn name_step(&self, action: usize, explains: impl Fn(usize) -> Option<bool>) -> Option<(String, Place)> {
        if let Some(part) = &self.parts[action] {
            return Some(part.clone());
        }
        self.name_among(action, None, &explains)
    }

    /// The name of the alternative that explains a step, among the choices directly below this branch or the action.
    fn name_among(
        &self,
        action: usize,
        around: Option<usize>,
        explains: &impl Fn(usize) -> Option<bool>,
    ) -> Option<(String, Place)> {
        let found = self.occurrences.iter().enumerate();
        let found = found.filter(|(_, o)| o.action == action && self.around(o) == around && o.branch.is_some());
        let mut choices: BTreeMap<(bool, usize), Vec<(usize, &TextBranch)>> = BTreeMap::new();
        for (number, Occurrence { choice, branch, .. }) in found {
            let Some(known) = branch.map(|branch| &self.all[branch]) else { continue };
            // What a step does is the alternative of an `either` rather than of an `if` beside it.
            let is_conditional = !matches!(known.branch.kind, BranchKind::Either | BranchKind::Disjunct);
            choices.entry((is_conditional, *choice)).or_default().push((number, known));
        }
        for alternatives in choices.values() {
            if alternatives.iter().any(|(_, known)| known.branch.kind == BranchKind::Loop) {
                continue;
            }
            let known: Vec<bool> = alternatives.iter().map(|(number, _)| explains(*number)).collect::<Option<_>>()?;
            let mut explaining = alternatives.iter().zip(known).filter(|(_, explains)| *explains);
            let ((number, only), _) = explaining.next()?;
            if explaining.next().is_some() {
                return None;
            }
            if only.is_listed {
                let own = only.has_own_name.then(|| (self.distinct_name(&only.branch), only.branch.place));
                // A branch that begins with another choice is named after what is chosen there.
                let first_word = only.branch.name.split(|c: char| !c.is_alphanumeric()).next();
                let begins_with_choice = first_word.is_some_and(|word| ["either", "if", "with"].contains(&word));
                let inner = begins_with_choice.then(|| self.name_among(action, Some(*number), explains));
                return inner.flatten().or(own);
            }
        }
        None
    }

    /// The branch around an occurrence, by index among the occurrences. The body of a loop says nothing of a step, so
    /// loops do not count.
    fn around(&self, occurrence: &Occurrence) -> Option<usize> {
        let mut around = occurrence.parent;
        while let Some(number) = around {
            let Occurrence { branch, parent, .. } = &self.occurrences[number];
            if branch.is_none_or(|branch| self.all[branch].branch.kind != BranchKind::Loop) {
                return around;
            }
            around = *parent;
        }
        None
    }

    /// The name of a branch, with its line if the action has another one of this name.
    fn distinct_name(&self, branch: &Branch) -> String {
        let Branch { action, name, place, .. } = branch;
        let same = self.all.iter().filter(|other| other.branch.action == *action && other.branch.name == *name);
        if same.count() > 1 { format!("{name} (line {})", place.line) } else { name.clone() }
    }

    fn occurrences_of(&self, index: usize) -> impl Iterator<Item = &Occurrence> {
        self.occurrences.iter().filter(move |occurrence| occurrence.branch == Some(index))
    }

    /// The names of the predicates, in the order of the branches.
    pub(super) fn predicates(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.all.len()).map(|index| format!("{}Can{index}", self.prefix))
    }

    /// The definitions of the predicates. A state that a constraint cuts off has no successors.
    pub(super) fn definitions(&self, constraints: &[String]) -> String {
        let mut text = self.definitions.clone();
        for (index, name) in self.predicates().enumerate() {
            let mut parts = Vec::new();
            for formula in self.occurrences_of(index).filter_map(|occurrence| occurrence.formula.as_ref()) {
                let part = format!("{}Is{index}_{}", self.prefix, parts.len());
                // Writing to a string cannot fail. A formula of several lines must keep its columns.
                let _ = writeln!(text, "{part} == {formula}");
                parts.push(format!("(ENABLED {part})"));
            }
            let can = if parts.is_empty() { "FALSE".to_owned() } else { format!("({})", parts.join(" \\/ ")) };
            let all: Vec<String> = constraints.iter().cloned().chain([can]).collect();
            let _ = writeln!(text, "{name} == {}", all.join(" /\\ "));
        }
        text
    }

    /// The coverage that a search for the predicates showed.
    pub(super) fn coverage(&self, outcomes: &[WitnessOutcome]) -> BranchCoverage {
        let reached = |name: String| outcomes.iter().find(|outcome| outcome.name == name).map(|o| &o.reached);
        let never: Vec<Option<bool>> = self
            .predicates()
            .enumerate()
            .map(|(index, name)| match reached(name) {
                Some(Reached::Yes { .. }) => Some(false),
                Some(Reached::No) if self.occurrences_of(index).all(|o| o.formula.is_some()) => Some(true),
                Some(Reached::No | Reached::Unknown(_)) | None => None,
            })
            .collect();
        let is_never = |occurrence: &Occurrence| occurrence.branch.and_then(|index| never[index]) == Some(true);
        // Without any alternative the action or the branch around it is never taken.
        let is_reported_outside = |occurrence: &Occurrence| {
            let mut same = self.occurrences.iter().filter(|other| other.choice == occurrence.choice);
            same.all(is_never) || occurrence.parent.is_some_and(|parent| is_never(&self.occurrences[parent]))
        };
        let is_listed = |index: usize, listed: &TextBranch| {
            listed.is_listed && !self.occurrences_of(index).all(is_reported_outside)
        };
        let select = |wanted: Option<bool>| -> Vec<Branch> {
            let all = self.all.iter().enumerate();
            let selected = all.filter(|(index, branch)| never[*index] == wanted && is_listed(*index, branch));
            selected.map(|(_, known)| known.branch.clone()).collect()
        };
        BranchCoverage { searched: self.all.len(), never_taken: select(Some(true)), undecided: select(None) }
    }
}

/// A module, with the origins of its translation.
struct Source<'a> {
    module: &'a Module,
    lines: Lines,
    origins: Option<Origins>,
}

impl<'a> Source<'a> {
    fn new(module: &'a Module) -> Self {
        let text = &module.source;
        let origins = module.translation.as_ref().and_then(|_| {
            translations(text)
                .find(|translated| same_lines(&translated.text, text))
                .map(|translated| translated.origins)
        });
        Self { module, lines: Lines::new(text), origins }
    }

    /// The names of the actions that are only parts of definitions. The `either` of an algorithm with one label becomes
    /// such parts.
    fn part_names(&self, actions: &[Disjunct]) -> Vec<Option<(String, Place)>> {
        let part_name = |action: &Disjunct| {
            let parts: Vec<&Range<usize>> = actions
                .iter()
                .filter(|other| other.name == action.name)
                .filter_map(|part| part.range.as_ref())
                .collect();
            let range = action.range.as_ref()?;
            let number = parts.iter().position(|part| *part == range).filter(|_| parts.len() > 1)?;
            let in_algorithm = self.origins.is_some() && self.module.in_translation(range.start);
            let found = self.find_either(&parts, number).filter(|_| in_algorithm)?;
            Some((found.name, self.module.place(found.start)))
        };
        actions.iter().map(part_name).collect()
    }

    /// Where a branch is in the text; `None` if it is an alternative of a condition.
    fn locate(&self, action: &str, branch: &ActionBranch, siblings: &[&ActionBranch]) -> Option<TextBranch> {
        let source = &self.module.source;
        let in_translation = self.module.in_translation(branch.range.start);
        let found = match (branch.role, &branch.condition) {
            _ if self.origins.is_none() || !in_translation => None,
            (BranchRole::Disjunct(number), _) => {
                let ranges: Vec<_> = siblings.iter().map(|sibling| &sibling.range).collect();
                self.find_either(&ranges, number)
            }
            (_, None) => None,
            (role, Some(condition)) => {
                self.module.find_conditional_branch(&self.origins_of(condition), role == BranchRole::Then)
            }
        };
        let action = action.to_owned();
        if let Some(found) = found {
            let place = self.module.place(found.start);
            let branch = Branch { action, kind: found.kind, place, name: found.name };
            return Some(TextBranch { branch, is_listed: !found.is_fallthrough, has_own_name: true });
        }
        let kind = match branch.role {
            BranchRole::Disjunct(_) => BranchKind::Disjunct,
            BranchRole::Then => BranchKind::Then,
            BranchRole::Else => BranchKind::Else,
        };
        let text = source.get(branch.range.clone())?;
        let name = branch_name(text.trim_start_matches("/\\").trim_start());
        let place = self.module.place(branch.range.start);
        branch.is_action.then(|| TextBranch {
            branch: Branch { action, kind, place, name },
            is_listed: kind != BranchKind::Else || !branch.changes_nothing,
            has_own_name: !in_translation,
        })
    }

    /// The branch of an `either` that became the disjunct with this number of these.
    fn find_either(&self, disjuncts: &[&Range<usize>], number: usize) -> Option<StatementBranch> {
        let positions: Vec<_> = disjuncts.iter().map(|range| self.origins_of(range)).collect();
        self.module.find_either_branch(&positions, number).or_else(|| {
            // The translator puts a blank line before each action.
            let start = disjuncts.first()?.start;
            let action = self.module.source[..start].rfind("\n\n")? + 2;
            let known = self.origins_of(&(action..start)).into_iter().max();
            let before = known.or_else(|| self.label_before(&self.module.source[action..start]))?;
            self.module.find_either_after(before, disjuncts.len(), number)
        })
    }

    /// Where the line of the label begins that this action of a translation is.
    fn label_before(&self, action: &str) -> Option<usize> {
        let name = action.split([' ', '(']).next()?;
        let label = self.module.algorithm.as_ref()?.labels.iter().find(|label| label.name == name)?;
        byte_at(&self.module.source, Place { line: label.line, column: 1 })
    }

    /// The bytes of the algorithm that the tokens of this part of the translation come from.
    fn origins_of(&self, range: &Range<usize>) -> Vec<usize> {
        let (Some(origins), source) = (&self.origins, &self.module.source) else { return Vec::new() };
        let places = lex(source, range.clone()).into_iter().filter_map(|token| {
            let line = self.lines.line(token.start);
            origins.find(line, column_of(source, token.start) + 1).filter(|place| place.exact)
        });
        places.filter_map(|place| byte_at(source, Place { line: place.line, column: place.column })).collect()
    }
}

/// The byte at a position, as SANY and the translators count columns.
fn byte_at(source: &str, place: Place) -> Option<usize> {
    let line = source.split_inclusive('\n').nth(place.line.checked_sub(1)?)?;
    let start = line.as_ptr() as usize - source.as_ptr() as usize;
    let offset = offset_of_column(line, place.column.checked_sub(1)?);
    (offset < line.len()).then_some(start + offset)
}
