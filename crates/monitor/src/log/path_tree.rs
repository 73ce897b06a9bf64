//! The paths of a record that a plan reads, as a tree of keys, with what is extracted at each of them.
//!
//! Knows nothing of JSON: the visitors walk a record and this tree side by side.

use super::field_reads::FieldUse;
use super::step::{Scalar, Step};

/// What is extracted from the value at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extract {
    /// The value of the field with this number. The second number ranks the path: lower ranks take precedence.
    Field(usize, u8),
    /// All values of the field, those in lists too; read by `any` and `every`.
    FieldValues(usize, u8),
    /// A tool's name, or blocks with tool calls; the number of the path in the mapping.
    ToolCall(usize),
    /// The arguments of these calls.
    CallArguments,
    /// A value beside a tool's name that may be its arguments.
    SiblingArguments,
    /// The `name` of a plain record, which is a tool call if the record has parameters.
    PlainName,
    /// The parameters of such a record.
    PlainParameters,
    /// Text, or blocks with text.
    Text,
    /// The name under which the text is stored outside the log.
    StoredText,
    /// The propositions that a model has found true.
    ModelLabels,
    /// The stop reason; the number ranks the path.
    StopReason(u8),
}

/// A node of the tree; the root is the record itself.
#[derive(Debug, Clone, Default)]
pub(super) struct PathNode {
    pub(super) extracts: Vec<Extract>,
    /// The number of a field that is read as one value, so that a list must not occur here.
    pub(super) single_valued: Option<usize>,
    children: Vec<(String, PathNode)>,
}

impl PathNode {
    pub(super) fn insert(&mut self, path: &str, extract: Extract) {
        let mut node = self;
        for key in path.split('.') {
            node = node.child_mut(key);
        }
        if !node.extracts.contains(&extract) {
            node.extracts.push(extract);
        }
    }

    fn child_mut(&mut self, key: &str) -> &mut Self {
        let at = self.children.iter().position(|(k, _)| k == key).unwrap_or_else(|| {
            self.children.push((key.to_owned(), Self::default()));
            self.children.len() - 1
        });
        &mut self.children[at].1
    }

    /// Forbids lists on this path, and at its end if `end`: a rule that only asks whether a field is defined allows a
    /// list there.
    fn forbid_lists(&mut self, path: &str, number: usize, end: bool) {
        let mut node = self;
        let mut keys = path.split('.').peekable();
        while let Some(key) = keys.next() {
            node = node.child_mut(key);
            if end || keys.peek().is_some() {
                node.single_valued.get_or_insert(number);
            }
        }
    }

    /// Inserts a field at a path, in each way in which formulas read it.
    pub(super) fn insert_field(&mut self, path: &str, number: usize, rank: u8, field_use: FieldUse) {
        self.insert(path, Extract::Field(number, rank));
        if field_use.quantified {
            self.insert(path, Extract::FieldValues(number, rank));
        }
        if field_use.single || field_use.defined {
            self.forbid_lists(path, number, field_use.single);
        }
    }

    pub(super) fn child(&self, key: &[u8]) -> Option<&Self> {
        // The first byte rejects most keys before the whole comparison.
        let same = |k: &str| k.as_bytes().first() == key.first() && k.as_bytes() == key;
        self.children.iter().find(|(k, _)| same(k)).map(|(_, node)| node)
    }

    pub(super) fn has_children(&self) -> bool {
        !self.children.is_empty()
    }

    pub(super) fn extracts(&self, extract: Extract) -> bool {
        self.extracts.contains(&extract)
    }

    /// The number of the tool-call path that leads here.
    pub(super) fn tool_call_path(&self) -> Option<usize> {
        self.extracts.iter().find_map(|extract| if let Extract::ToolCall(path) = extract { Some(*path) } else { None })
    }

    /// Whether a list or an object here may consist of blocks of a message.
    pub(super) fn may_hold_blocks(&self) -> bool {
        self.extracts.iter().any(|extract| matches!(extract, Extract::ToolCall(_) | Extract::Text))
    }

    /// Adds to `step` what is extracted from a value that is neither a text, a list nor an object.
    pub(super) fn extract_scalar(&self, step: &mut Step, scalar: &Scalar) {
        for extract in &self.extracts {
            match extract {
                Extract::Field(number, rank) => step.set_value(*number, *rank, || scalar.clone()),
                Extract::FieldValues(number, rank) => step.add_value(*number, *rank, Some(scalar.clone())),
                _ => {}
            }
        }
    }

    /// Adds to `step` what is extracted from a text.
    pub(super) fn extract_text(&self, step: &mut Step, text: &str) {
        for extract in &self.extracts {
            match extract {
                Extract::Field(number, rank) => step.set_value(*number, *rank, || Scalar::Text(text.to_owned())),
                Extract::FieldValues(number, rank) => {
                    step.add_value(*number, *rank, Some(Scalar::Text(text.to_owned())));
                }
                // A path that may hold text is text: a message that says `rm` has called nothing.
                Extract::ToolCall(_) if self.extracts(Extract::Text) => {}
                Extract::ToolCall(path) => step.add_call(text.to_owned(), *path, None),
                Extract::PlainName => step.plain_name = Some(text.to_owned()),
                Extract::CallArguments
                | Extract::SiblingArguments
                | Extract::PlainParameters
                | Extract::ModelLabels => {}
                Extract::Text => step.add_text(text),
                Extract::StoredText => step.stored_text = Some(text.to_owned()),
                Extract::StopReason(rank) => {
                    if step.stop_reason.as_ref().is_none_or(|(before, _)| rank <= before) {
                        step.stop_reason = Some((*rank, text.to_owned()));
                    }
                }
            }
        }
    }

    /// Notes in `step` that the fields here hold a list or an object.
    pub(super) fn mark_compound(&self, step: &mut Step) {
        for extract in &self.extracts {
            if let Extract::Field(number, _) = extract {
                step.compound[*number] = true;
            }
        }
    }
}
