//! The grammar of proofs. Proofs are parsed to find their end and to resolve the names in them; whether they prove
//! anything is not checked.

use super::parser::{DeclarationContext, Parsed, Parser, syntax_error, too_deep};
use super::token::Kind;
use super::tree::{
    Assumed, Expr, Facts, Form, Name, NewKind, Proof, Purpose, Segment, SegmentKind, Sequent, Step, StepBody, Unit,
};

/// Maximum nesting of proofs.
const MAX_PROOF_NESTING: usize = 100;

impl Parser<'_> {
    pub(super) fn recursive(&mut self) -> Parsed<Unit> {
        self.take();
        let mut all = vec![self.declaration(DeclarationContext::List)?];
        while self.take_if(",") {
            all.push(self.declaration(DeclarationContext::List)?);
        }
        Ok(Unit::Recursive(all))
    }

    fn opens_sequent(&self, by: usize) -> bool {
        self.token_ahead(by).is("ASSUME") || self.token_ahead(by).is("[]ASSUME")
    }

    pub(super) fn begins_sequent(&self) -> bool {
        self.opens_sequent(0) || (self.token_ahead(1).is("::") && self.opens_sequent(2))
    }

    pub(super) fn sequent(&mut self) -> Parsed<Sequent> {
        self.nested(Self::sequent_itself)
    }

    fn sequent_itself(&mut self) -> Parsed<Sequent> {
        if self.token_ahead(1).is("::") {
            self.identifier("a label")?;
            self.take();
        }
        let boxed = self.take().is("[]ASSUME");
        let mut assumptions = vec![self.assumed()?];
        while self.take_if(",") {
            assumptions.push(self.assumed()?);
        }
        if !(self.is("PROVE") || self.is("[]PROVE")) {
            return self.unexpected("`,` or PROVE");
        }
        if boxed != self.take().is("[]PROVE") {
            self.position -= 1;
            return self.unexpected(if boxed { "[]PROVE for []ASSUME" } else { "PROVE for ASSUME" });
        }
        Ok(Sequent { assumptions, goal: self.expression()? })
    }

    fn assumed(&mut self) -> Parsed<Assumed> {
        if self.begins_sequent() {
            return Ok(Assumed::Sequent(self.sequent()?));
        }
        let new = self.take_if("NEW");
        let kind = match self.peek().kind {
            Kind::Word("CONSTANT") => Some(NewKind::Constant),
            Kind::Word("VARIABLE") => Some(NewKind::Variable),
            Kind::Word("STATE") => Some(NewKind::State),
            Kind::Word("ACTION") => Some(NewKind::Action),
            Kind::Word("TEMPORAL") => Some(NewKind::Temporal),
            _ => None,
        };
        self.position += usize::from(kind.is_some());
        if !new && kind.is_none() {
            return Ok(Assumed::Formula(self.expression()?));
        }
        let level = kind.unwrap_or(NewKind::Constant);
        let declared = self.declaration(DeclarationContext::Parameter)?;
        let mut set = None;
        if level == NewKind::Constant && self.is("\\in") {
            if declared.arity > 0 {
                return self.unexpected("no `\\in` after an operator with operands");
            }
            self.take();
            set = Some(self.expression()?);
        }
        Ok(Assumed::New { declared, level, set })
    }

    /// The level in a step's token: a number, or `None` for `*` and `+`.
    fn step_level(&self, by: usize) -> Option<u32> {
        let token = self.token_ahead(by);
        let text = self.spelling(&token);
        let digits = text.get(1..text.find('>')?)?;
        digits.parse().ok()
    }

    fn is_step(&self) -> bool {
        matches!(self.peek().kind, Kind::Step | Kind::StepStart)
    }

    pub(super) fn begins_proof(&self) -> bool {
        let token = self.peek();
        match token.kind {
            Kind::Word("BY" | "PROOF" | "OBVIOUS" | "OMITTED") => true,
            Kind::Step | Kind::StepStart => {
                let text = self.spelling(&token);
                if text.starts_with("<*>") {
                    self.proofs.is_empty()
                } else if text.starts_with("<+>") {
                    true
                } else {
                    match (self.proofs.last(), self.step_level(0)) {
                        (None, _) => true,
                        (Some(Some(level)), Some(here)) => here > *level,
                        _ => false,
                    }
                }
            }
            _ => false,
        }
    }

    pub(super) fn proof(&mut self) -> Parsed<Proof> {
        if self.proofs.len() >= MAX_PROOF_NESTING {
            return too_deep(self.peek().start);
        }
        self.proofs.push(None);
        let proof = self.nested(Self::proof_itself);
        self.proofs.pop();
        proof
    }

    fn proof_itself(&mut self) -> Parsed<Proof> {
        if self.is("BY") || self.token_ahead(1).is("BY") {
            return Ok(Proof::By(self.facts()?));
        }
        self.take_if("PROOF");
        if self.take_if("OBVIOUS") || self.take_if("OMITTED") {
            return Ok(Proof::Empty);
        }
        let mut steps = Vec::new();
        loop {
            if !self.is_step() {
                return self.unexpected("a proof step");
            }
            let name = self.step_name()?;
            let last = self.is("QED");
            steps.push(self.step(name)?);
            if last {
                return Ok(Proof::Steps(steps));
            }
        }
    }

    /// Takes the token that begins a step, checks its level, and returns the name under which the step is known.
    fn step_name(&mut self) -> Parsed<Option<Name>> {
        let outer = match self.proofs.as_slice() {
            [.., outer, _] => *outer,
            _ => None,
        };
        let level = self.step_level(0);
        let token = self.take();
        let text = self.spelling(&token).to_owned();
        let Some(here) = self.proofs.last_mut() else { return Ok(None) };
        let next = outer.map_or(0, |level| level + 1);
        let fits = match (level, *here) {
            (Some(level), None) => {
                *here = Some(level);
                outer.is_none_or(|outer| level > outer)
            }
            (Some(level), Some(open)) => level == open,
            (None, None) => {
                *here = Some(next);
                true
            }
            (None, Some(_)) => text.starts_with("<*>"),
        };
        if !fits {
            return syntax_error(token.start, format!("`{text}` has another level than its proof"));
        }
        let name = self.canonical_step(&text).map(|text| Name { text, offset: token.start });
        if level.is_none() && name.is_some() {
            let level = self.proofs.last().copied().flatten().unwrap_or(next);
            let message = format!("`{text}` cannot be a name: write the number of the level, as in `<{level}>1.`");
            return syntax_error(token.start, message);
        }
        Ok(name)
    }

    /// `<1>a` for `<*>a`, `<01>a`, `<1>a.`; `None` for a step without a name.
    fn canonical_step(&self, text: &str) -> Option<String> {
        let close = text.find('>')?;
        let name = text[close + 1..].trim_end_matches('.').trim_start_matches(['*', '-']);
        if name.is_empty() {
            return None;
        }
        let level = match text[1..close].parse::<u32>() {
            Ok(level) => level,
            Err(_) => self.proofs.iter().rev().find_map(|level| *level)?,
        };
        Some(format!("<{level}>{name}"))
    }

    fn step(&mut self, name: Option<Name>) -> Parsed<Step> {
        let mut proved = false;
        let token = self.peek();
        let body = match token.kind {
            Kind::Word("QED") => {
                self.take();
                proved = true;
                StepBody::Qed
            }
            Kind::Word("USE" | "HIDE") => StepBody::Use(self.facts()?),
            Kind::Word("INSTANCE") => StepBody::Instance(self.instance()?),
            Kind::Word("HAVE") => {
                self.take();
                StepBody::Have(self.expression()?)
            }
            Kind::Word("TAKE") => {
                self.take();
                if self.is("<<") || self.names_up_to("\\in") {
                    StepBody::TakeBounded(self.bounds()?)
                } else {
                    StepBody::Take(self.identifiers("the name of a bound variable")?)
                }
            }
            Kind::Word("WITNESS") => {
                self.take();
                let mut all = vec![self.expression()?];
                while self.take_if(",") {
                    all.push(self.expression()?);
                }
                StepBody::Witness(all)
            }
            Kind::Word("PICK") => {
                self.take();
                proved = true;
                self.pick()?
            }
            Kind::Word("CASE") => {
                self.take();
                proved = true;
                StepBody::Case(self.expression()?)
            }
            Kind::Word("SUFFICES") => {
                self.take();
                proved = true;
                StepBody::Suffices(self.statement()?)
            }
            _ if token.is("DEFINE") || self.begins_definition(self.position) => StepBody::Define(self.definitions()?),
            _ => {
                proved = true;
                StepBody::Assert(self.statement()?)
            }
        };
        if !self.begins_proof() {
            return Ok(Step { name, body, proof: None });
        }
        if !proved {
            return self.unexpected("the next step: this one takes no proof");
        }
        Ok(Step { name, body, proof: Some(self.proof()?) })
    }

    fn pick(&mut self) -> Parsed<StepBody> {
        if self.names_up_to(":") {
            let names = self.identifiers("the name of a bound variable")?;
            self.take();
            return Ok(StepBody::Pick(names, self.expression()?));
        }
        let bounds = self.bounds()?;
        self.expect(":", "after the bound variables of PICK")?;
        Ok(StepBody::PickBounded(bounds, self.expression()?))
    }

    fn definitions(&mut self) -> Parsed<Vec<Unit>> {
        self.take_if("DEFINE");
        let mut units = vec![self.definition()?];
        while self.begins_definition(self.position) {
            units.push(self.definition()?);
        }
        Ok(units)
    }

    /// `BY a, MODULE M DEF b`
    pub(super) fn facts(&mut self) -> Parsed<Facts> {
        self.take_if("PROOF");
        let word = self.take();
        let purpose = if word.is("HIDE") { Purpose::Hide } else { Purpose::Use };
        let mut all = Facts { purpose, offset: word.start, ..Facts::default() };
        if purpose == Purpose::Use {
            self.take_if("ONLY");
        }
        if !self.is("DEF") && !self.ends_facts() {
            let (mut facts, mut modules) = (Vec::new(), Vec::new());
            self.fact_list(&mut facts, &mut modules)?;
            all.formulas = facts;
            all.modules = modules;
        }
        if self.take_if("DEF") {
            let (mut definitions, mut modules) = (Vec::new(), Vec::new());
            self.fact_list(&mut definitions, &mut modules)?;
            all.definitions = definitions;
            all.modules.append(&mut modules);
        }
        if all.formulas.is_empty() && all.modules.is_empty() && all.definitions.is_empty() {
            return syntax_error(word.start, format!("{} names nothing", self.spelling(&word)));
        }
        Ok(all)
    }

    fn ends_facts(&self) -> bool {
        match self.peek().kind {
            Kind::Word("MODULE") => false,
            Kind::Word(_) => !matches!(self.peek().kind, Kind::Word("IF" | "CASE" | "LET" | "CHOOSE")),
            Kind::StepStart | Kind::End | Kind::Line | Kind::Begin | Kind::Nothing => true,
            _ => self.begins_definition(self.position),
        }
    }

    fn fact_list(&mut self, facts: &mut Vec<Expr>, modules: &mut Vec<Name>) -> Parsed<()> {
        loop {
            if self.take_if("MODULE") {
                modules.push(self.identifier("the name of a module")?);
            } else {
                facts.push(self.expression()?);
            }
            if !self.take_if(",") {
                return Ok(());
            }
        }
    }

    /// The name of a step that an expression refers to.
    pub(super) fn step_reference(&self, text: &str) -> String {
        self.canonical_step(text).unwrap_or_else(|| text.to_owned())
    }
}

/// The name, if an expression is only the name of a step or a theorem.
pub(super) fn as_plain_name(expression: &Expr) -> Option<&Segment> {
    match &expression.form {
        Form::Path(segments) => match segments.as_slice() {
            [segment] if segment.kind == SegmentKind::Name && segment.arguments.is_none() => Some(segment),
            _ => None,
        },
        _ => None,
    }
}
