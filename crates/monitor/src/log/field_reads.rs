//! How formulas read each field: as one value, or all values of the lists that lead to it.

use std::collections::{BTreeMap, BTreeSet};

use super::mapping::Mapping;
use tlaforge_temporal::{Atom, Comparison, Formula, Formulas, Literal, Quantifier, Term, ValueTest};

/// How formulas read a field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FieldUse {
    /// As one value.
    pub(super) single: bool,
    /// By `defined`, which needs no value.
    pub(super) defined: bool,
    /// By `any` or `every`.
    pub(super) quantified: bool,
}

/// The fields that some formulas read, and how.
#[derive(Debug, Default)]
pub(super) struct FieldReads {
    by_name: BTreeMap<String, FieldUse>,
    /// For each field that is read as one value, an atom that reads it, rewritten with `any`.
    any_atoms: BTreeMap<String, String>,
    /// Fields that are read as `extra:NAME=…`.
    extras: BTreeSet<String>,
}

impl FieldReads {
    pub(super) fn new(formulas: &Formulas, read: &[Formula]) -> Self {
        let mut reads = Self::default();
        for formula in read {
            for atom in formulas.atoms_of(*formula) {
                reads.add(formulas, formulas.atom(atom));
            }
        }
        reads
    }

    fn add(&mut self, formulas: &Formulas, atom: &Atom) {
        let mut terms = atom.terms();
        match atom {
            Atom::Name(name) => {
                let test = ValueTest::Compare(Comparison::Equal, Term::Literal(Literal::Bool(true)));
                self.add_single(name, formulas, Some(test));
            }
            Atom::Label { kind, text } if &**kind == "extra" => {
                if let Some((key, value)) = text.split_once('=') {
                    let test = ValueTest::Compare(Comparison::Equal, Term::Literal(Literal::Text(value.into())));
                    self.add_single(key, formulas, Some(test));
                    self.extras.insert(key.to_owned());
                }
            }
            Atom::Quantified(_, Term::Field(path), _) => {
                self.by_name.entry(path.to_string()).or_default().quantified = true;
                terms.remove(0);
            }
            Atom::Call(name, arguments) if &**name == "defined" => {
                if let [Term::Field(field)] = &**arguments {
                    self.by_name.entry(field.to_string()).or_default().defined = true;
                    terms.clear();
                }
            }
            Atom::Compare(comparison, Term::Field(name), other) => {
                self.add_single(name, formulas, Some(ValueTest::Compare(*comparison, other.clone())));
            }
            Atom::Call(call, arguments) => {
                if let Some((Term::Field(name), rest)) = arguments.split_first() {
                    self.add_single(name, formulas, Some(ValueTest::Call(call.clone(), rest.into())));
                }
            }
            _ => {}
        }
        for (_, name) in terms.into_iter().flat_map(Term::fields) {
            self.add_single(name, formulas, None);
        }
    }

    /// The fields that are read as one value, each with an atom that reads it, rewritten with `any`.
    fn single(&self) -> impl Iterator<Item = (&str, String)> {
        let single = self.by_name.iter().filter(|(_, field_use)| field_use.single);
        single.map(|(name, _)| (name.as_str(), self.any_atom(name)))
    }

    fn any_atom(&self, name: &str) -> String {
        self.any_atoms.get(name).cloned().unwrap_or_else(|| format!("any({name}, …)"))
    }

    fn add_single(&mut self, name: &str, formulas: &Formulas, test: Option<ValueTest>) {
        self.by_name.entry(name.to_owned()).or_default().single = true;
        if let Some(test) = test.filter(|_| !self.any_atoms.contains_key(name)) {
            let atom = Atom::Quantified(Quantifier::Any, Term::Field(name.into()), test);
            self.any_atoms.insert(name.to_owned(), formulas.atom_text(&atom));
        }
    }

    /// The fields, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// The fields that are read as `extra:NAME=…`.
    pub(super) fn extras(&self) -> &BTreeSet<String> {
        &self.extras
    }

    pub(super) fn use_of(&self, name: &str) -> FieldUse {
        self.by_name.get(name).copied().unwrap_or_default()
    }

    /// The message if a list leads to this field: what to write instead.
    pub(super) fn list_message(&self, name: &str, mapping: &Mapping) -> String {
        let any = self.any_atom(name);
        let every = any.replacen("any", "every", 1);
        let is_call = |path: &String| name.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('.'));
        let full = |name: &str| mapping.within.as_ref().map(|within| format!("{within}.{name}"));
        let is_text = mapping.text.iter().flatten().any(|path| path == name || Some(path) == full(name).as_ref());
        let hint = if is_text {
            "; `text_contains:\"…\"` sees the text of its blocks"
        } else if !name.starts_with("tool.input") && mapping.tool_call.iter().flatten().any(is_call) {
            "; `tool.name` and `tool.input.…` are the fields of each tool call"
        } else {
            ""
        };
        format!("the path `{name}` crosses a list: write `{any}` or `{every}`{hint}")
    }
}

/// The fields whose value formulas read; a field that is only tested with `defined` is not among them.
pub fn fields_read_for_value(formulas: &Formulas, read: &[Formula]) -> BTreeSet<String> {
    let reads = FieldReads::new(formulas, read).by_name.into_iter();
    reads.filter(|(_, field_use)| field_use.single || field_use.quantified).map(|(name, _)| name).collect()
}

/// The fields that formulas read as one value, each with an atom that reads it, rewritten with `any`.
pub fn single_value_reads(formulas: &Formulas, read: &[Formula]) -> Vec<(String, String)> {
    FieldReads::new(formulas, read).single().map(|(name, any)| (name.to_owned(), any)).collect()
}
