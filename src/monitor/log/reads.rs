//! How the rules read each field: as one value, or through the lists that lead to it.

use std::collections::{BTreeMap, BTreeSet};

use super::mapping::Mapping;
use crate::temporal::{Atom, Comparison, Formula, Formulas, Literal, Quantifier, Term, ValueTest};

/// How a field is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reads {
    /// As one value.
    pub(super) one: bool,
    /// By `defined` alone: whether it is there.
    pub(super) there: bool,
    /// By `any` or `every`.
    pub(super) all: bool,
}

/// How the fields of some formulas are read.
#[derive(Debug, Default)]
pub(super) struct FieldReads {
    by_name: BTreeMap<String, Reads>,
    /// For each name that is read as one value, the atom that does, with `any`.
    spelled: BTreeMap<String, String>,
    extras: BTreeSet<String>,
}

impl FieldReads {
    pub(super) fn of(formulas: &Formulas, wanted: &[Formula]) -> Self {
        let mut this = Self::default();
        for formula in wanted {
            for atom in formulas.atoms_of(*formula) {
                this.add(formulas, formulas.atom(atom));
            }
        }
        this
    }

    fn add(&mut self, formulas: &Formulas, atom: &Atom) {
        let mut terms = atom.terms();
        match atom {
            Atom::Name(name) => {
                let test = ValueTest::Compare(Comparison::Equal, Term::Literal(Literal::Bool(true)));
                self.one(name, formulas, Some(test));
            }
            Atom::Label { kind, text } if &**kind == "extra" => {
                if let Some((key, value)) = text.split_once('=') {
                    let test = ValueTest::Compare(Comparison::Equal, Term::Literal(Literal::Text(value.into())));
                    self.one(key, formulas, Some(test));
                    self.extras.insert(key.to_owned());
                }
            }
            Atom::Quantified(_, Term::Field(path), _) => {
                self.by_name.entry(path.to_string()).or_default().all = true;
                terms.remove(0);
            }
            Atom::Call(name, arguments) if &**name == "defined" => {
                if let [Term::Field(field)] = &**arguments {
                    self.by_name.entry(field.to_string()).or_default().there = true;
                    terms.clear();
                }
            }
            Atom::Compare(comparison, Term::Field(name), other) => {
                self.one(name, formulas, Some(ValueTest::Compare(*comparison, other.clone())));
            }
            Atom::Call(call, arguments) => {
                if let Some((Term::Field(name), rest)) = arguments.split_first() {
                    self.one(name, formulas, Some(ValueTest::Call(call.clone(), rest.into())));
                }
            }
            _ => {}
        }
        for (_, name) in terms.into_iter().flat_map(Term::fields) {
            self.one(name, formulas, None);
        }
    }

    /// The fields that are read as one value, each with the atom that reads it, spelled with `any`.
    fn single(&self) -> impl Iterator<Item = (&str, String)> {
        let single = self.by_name.iter().filter(|(_, reads)| reads.one);
        single.map(|(name, _)| (name.as_str(), self.any(name)))
    }

    fn any(&self, name: &str) -> String {
        self.spelled.get(name).cloned().unwrap_or_else(|| format!("any({name}, …)"))
    }

    fn one(&mut self, name: &str, formulas: &Formulas, test: Option<ValueTest>) {
        self.by_name.entry(name.to_owned()).or_default().one = true;
        if let Some(test) = test.filter(|_| !self.spelled.contains_key(name)) {
            let atom = Atom::Quantified(Quantifier::Any, Term::Field(name.into()), test);
            self.spelled.insert(name.to_owned(), formulas.atom_text(&atom));
        }
    }

    /// The fields, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Those that are read as `extra:NAME=…`.
    pub(super) fn extras(&self) -> &BTreeSet<String> {
        &self.extras
    }

    /// How one of them is read.
    pub(super) fn of_name(&self, name: &str) -> Reads {
        self.by_name.get(name).copied().unwrap_or_default()
    }

    /// What to write instead if a list leads to this field.
    pub(super) fn spelling(&self, name: &str, mapping: &Mapping) -> String {
        let any = self.any(name);
        let every = any.replacen("any", "every", 1);
        let is_call = |path: &String| name.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('.'));
        let full = |name: &str| mapping.within.as_ref().map(|within| format!("{within}.{name}"));
        let is_text = mapping.text.iter().flatten().any(|path| path == name || Some(path) == full(name).as_ref());
        let of_calls = if is_text {
            "; `text_contains:\"…\"` sees the text of its blocks"
        } else if !name.starts_with("tool.input") && mapping.tool_call.iter().flatten().any(is_call) {
            "; `tool.name` and `tool.input.…` are the fields of each tool call"
        } else {
            ""
        };
        format!("the path `{name}` crosses a list: write `{any}` or `{every}`{of_calls}")
    }
}

/// The fields of which formulas read a value, and not only whether they are there.
pub fn read_for_value(formulas: &Formulas, wanted: &[Formula]) -> BTreeSet<String> {
    let reads = FieldReads::of(formulas, wanted).by_name.into_iter();
    reads.filter(|(_, reads)| reads.one || reads.all).map(|(name, _)| name).collect()
}

/// The fields that formulas read as one value, each with the atom that reads it, spelled with `any`.
pub fn read_as_one(formulas: &Formulas, wanted: &[Formula]) -> Vec<(String, String)> {
    FieldReads::of(formulas, wanted).single().map(|(name, any)| (name.to_owned(), any)).collect()
}
