//! Parts of definitions selected by position (`Inv!2`, `Op(x)!1!(y)`) or by label (`Inv!P2`). Parts of LET definitions
//! and of ASSUME are not analysed.

use std::rc::Rc;

use super::builtin::BuiltInForm;
use super::graph::{Application, Label, Node, NodeId, SubstitutionId, SymbolId, SymbolKind};
use super::resolver::Resolver;
use super::tree::{Segment, SegmentKind};

/// Why a part is not found.
enum Missing {
    None,
    NotAnalysed,
}

/// What has been selected so far.
struct Part {
    node: NodeId,
    /// Variables bound around the part, and their values.
    parameters: Vec<SymbolId>,
    arguments: Vec<NodeId>,
    under: Vec<SubstitutionId>,
    /// Labels that may follow; none after a position.
    labels: Option<Rc<[Label]>>,
}

impl Resolver<'_> {
    /// The part of this definition, applied to these arguments, that the segments select.
    pub(super) fn part(
        &mut self,
        definition: SymbolId,
        arguments: Vec<NodeId>,
        segments: &[Segment],
        offset: usize,
    ) -> NodeId {
        let symbol = self.graph.symbol(definition).clone();
        let selected = symbol.body.ok_or(Missing::None).and_then(|node| {
            let part = Part {
                node,
                parameters: symbol.parameters.clone(),
                arguments,
                under: Vec::new(),
                labels: Some(Rc::clone(&symbol.labels)),
            };
            self.select_part(part, segments)
        });
        match selected {
            Ok(part) => self.finish_part(part, offset),
            Err(Missing::None) => {
                self.error(offset, format!("`{}` has no such part", symbol.name));
                self.literal(offset)
            }
            Err(Missing::NotAnalysed) => {
                self.not_analysed(
                    offset,
                    format!("a part of `{}` is selected in a way that is not known here", symbol.name),
                );
                self.literal(offset)
            }
        }
    }

    fn finish_part(&mut self, part: Part, offset: usize) -> NodeId {
        let place = self.place(offset);
        let mut node = part.node;
        for by in part.under.into_iter().rev() {
            node = self.graph.add_node(Node::Substituted { body: node, by }, place);
        }
        if part.parameters.len() != part.arguments.len() {
            self.error(offset, "the selected part has bound variables that get no value".into());
        }
        if part.parameters.is_empty() {
            return self.form(BuiltInForm::ProofStep, vec![node], Vec::new(), Vec::new(), place);
        }
        let mut symbol = self.symbol("a part of a definition", SymbolKind::Operator, part.parameters.len(), offset);
        symbol.parameters = part.parameters;
        symbol.body = Some(node);
        let symbol = self.graph.add_symbol(symbol);
        self.apply(symbol, part.arguments, offset)
    }

    fn select_part(&mut self, mut part: Part, segments: &[Segment]) -> Result<Part, Missing> {
        if let [segment] = segments
            && segment.name.text == ":"
        {
            return Ok(part);
        }
        let mut index = 0;
        while let Some(segment) = segments.get(index) {
            if segment.kind == SegmentKind::Name {
                self.labelled_part(&mut part, segment)?;
                index += 1;
                continue;
            }
            part.labels = None;
            while let Node::Substituted { body, by } = self.graph.node(part.node) {
                part.under.push(*by);
                part.node = *body;
            }
            if let Some(arguments) = &segment.arguments {
                self.instantiate(&mut part, arguments)?;
            } else {
                let Node::Apply(application) = self.graph.node(part.node).clone() else {
                    let inner = match self.graph.node(part.node) {
                        Node::Let { body, .. } if position(segment, 1)? == 1 => Some(*body),
                        Node::Sequent { .. } => return Err(Missing::NotAnalysed),
                        _ => None,
                    };
                    part.node = inner.ok_or(Missing::None)?;
                    index += 1;
                    continue;
                };
                if application.operator == BuiltInForm::Case.symbol() {
                    index += 1;
                    let second = segments.get(index).ok_or(Missing::None)?;
                    part.node = self.case_part(&application, segment, second)?;
                } else {
                    part.node = self.operand_part(&application, segment)?;
                }
            }
            index += 1;
        }
        Ok(part)
    }

    /// `!label(x)`, possible only before a position.
    fn labelled_part(&mut self, part: &mut Part, segment: &Segment) -> Result<(), Missing> {
        let Some(labels) = part.labels.take() else {
            // After a position, a name can only be a definition of LET.
            let within_let = matches!(self.graph.node(part.node), Node::Let { .. });
            return Err(if within_let { Missing::NotAnalysed } else { Missing::None });
        };
        let label = labels.iter().find(|label| *label.name == *segment.name.text).ok_or(Missing::None)?;
        let arguments = segment.arguments.as_deref().unwrap_or(&[]);
        if label.parameters.len() != arguments.len() {
            return Err(Missing::None);
        }
        while let Node::Substituted { body, by } = self.graph.node(part.node) {
            part.under.push(*by);
            part.node = *body;
        }
        part.parameters.extend(&label.parameters);
        for argument in arguments {
            let node = self.expression(argument);
            part.arguments.push(node);
        }
        part.node = label.node;
        part.labels = Some(label.inner.clone().into());
        Ok(())
    }

    /// `!(x)`: the body of a quantifier or the like, with values for its variables.
    fn instantiate(&mut self, part: &mut Part, arguments: &[super::tree::Expr]) -> Result<(), Missing> {
        let Node::Apply(application) = self.graph.node(part.node).clone() else { return Err(Missing::NotAnalysed) };
        let function = application.operator == BuiltInForm::FunctionDefinition.symbol();
        if function || application.bound.is_empty() {
            return Err(if function { Missing::NotAnalysed } else { Missing::None });
        }
        if application.bound.len() != arguments.len() {
            return Err(Missing::None);
        }
        part.parameters.extend(application.bound);
        for argument in arguments {
            let node = self.expression(argument);
            part.arguments.push(node);
        }
        part.node = application.operands.first().copied().flatten().ok_or(Missing::None)?;
        Ok(())
    }

    fn case_part(&self, case: &Application, first: &Segment, second: &Segment) -> Result<NodeId, Missing> {
        let arm = nth(&case.operands, position(first, case.operands.len())?)?;
        let Node::Apply(arm) = self.graph.node(arm) else { return Err(Missing::None) };
        match (position(second, 2)?, arm.operands.len()) {
            (2, 1) => nth(&arm.operands, 1),
            (chosen, _) => nth(&arm.operands, chosen),
        }
    }

    fn operand_part(&self, application: &Application, segment: &Segment) -> Result<NodeId, Missing> {
        let is = |row: BuiltInForm| application.operator == row.symbol();
        if is(BuiltInForm::FunctionDefinition)
            || is(BuiltInForm::Selection)
            || (is(BuiltInForm::Application) && application.operands.len() > 2)
        {
            return Err(Missing::NotAnalysed);
        }
        if !application.bound.is_empty() {
            let chosen = position(segment, application.ranges.len())?;
            return application.ranges.get(chosen - 1).copied().ok_or(Missing::None);
        }
        let chosen = position(segment, application.operands.len())?;
        let node = nth(&application.operands, chosen)?;
        if is(BuiltInForm::Except) && chosen > 1 {
            return Err(Missing::None);
        }
        if is(BuiltInForm::Record) || is(BuiltInForm::RecordSet) {
            let Node::Apply(field) = self.graph.node(node) else { return Err(Missing::None) };
            return nth(&field.operands, 1);
        }
        Ok(node)
    }
}

fn nth(operands: &[Option<NodeId>], position: usize) -> Result<NodeId, Missing> {
    operands.get(position.wrapping_sub(1)).copied().flatten().ok_or(Missing::None)
}

/// The position, from 1, that a selector means among `count` operands.
fn position(segment: &Segment, count: usize) -> Result<usize, Missing> {
    let chosen = match segment.name.text.as_str() {
        "<<" => 1,
        ">>" if count == 2 => 2,
        ">>" => 0,
        ":" | "@" => return Err(Missing::NotAnalysed),
        number => number.parse().unwrap_or(0),
    };
    if (1..=count).contains(&chosen) { Ok(chosen) } else { Err(Missing::None) }
}
