//! Rewrites modules so that `tla-mc` reads and computes what TLA+ says: parentheses if its operators bind differently,
//! ASCII spellings, and arithmetic that stops where TLC stops. What cannot be rewritten is refused.

use std::fmt::Write as _;

use crate::{Cfg, Diagnostic, Stage};

use super::checker_text::{Changes, CheckerText};
use super::dialect::{is_known, is_operation, parses_differently};
use super::flattened::{ambiguous_name, extension_closure, ignored_conjuncts};
use super::operator::Operator;
use super::parser::{Fault, parse};
use super::token::{Kind, Token, tokens};
use super::tree::{Bound, Expr, Form, Instance, Module, SegmentKind, Statement, Unit, for_each_part};

/// TLC has 32-bit integers.
const TLC_INT_LIMIT: u64 = 1 << 31;
/// If all literals are smaller than this, a sum of a few stays within 32 bits, so `+` and `-` need no guard.
const LARGE_NUMBER: u64 = 1 << 20;

/// Prefix of the text that generated arithmetic stops with if TLC has no value.
pub const UNDEFINED_PREFIX: &str = "tlaforge undefined: ";
/// Prefix of the text that generated arithmetic stops with beyond TLC's integers.
pub const LIMIT_PREFIX: &str = "tlaforge limit: ";
/// Prefix of the text that a violated assumption stops with; its position follows.
pub const ASSUMPTION_PREFIX: &str = "tlaforge assumption: ";

/// Rewrites modules, given by name and text, for the checker; the first one is the root of the specification, and the
/// order is kept. `cfg` is the text of the configuration. An error names a construct that cannot be rewritten with the
/// same meaning; the module itself is correct.
pub fn rewrite_for_checker(modules: &[(&str, &str)], cfg: &str) -> Result<Vec<CheckerText>, Diagnostic> {
    let mut read = Vec::new();
    for (name, text) in modules {
        let tree =
            parse(text).map_err(|Fault { offset, message, .. }| embedded_diagnostic(text, name, offset, &message))?;
        read.push((*name, *text, tokens(text), tree));
    }
    let mut numbers: Vec<u64> = Vec::new();
    for (name, text, tokens, _) in &read {
        for token in tokens.iter().filter(|token| token.kind == Kind::Number) {
            let value = number_value(text.get(token.start..token.end).unwrap_or(""));
            if value.is_none_or(|value| value >= TLC_INT_LIMIT) {
                return Err(embedded_diagnostic(
                    text,
                    name,
                    token.start,
                    "this number has more than 32 bits, which TLC does not have",
                ));
            }
            numbers.extend(value);
        }
    }
    let digits = cfg.split(|char: char| !char.is_ascii_alphanumeric() && char != '_');
    for word in digits.filter(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())) {
        match word.parse() {
            Ok(value) if value < TLC_INT_LIMIT => numbers.push(value),
            _ => {
                let message = format!("{word} in the configuration has more than 32 bits, which TLC does not have");
                return Err(Diagnostic { stage: Stage::Config, line: 0, column: 0, message });
            }
        }
    }
    let large = numbers.iter().any(|number| *number >= LARGE_NUMBER);
    let mut prefix = "TlaforgeNumber".to_owned();
    // No name of the author may begin like the generated ones.
    while modules.iter().any(|(_, text)| text.contains(&prefix)) || cfg.contains(&prefix) {
        prefix.push('_');
    }
    let own: Vec<&Module> = read.iter().map(|(_, _, _, tree)| tree).collect();
    let guarded: Vec<&str> = ["\\div", "^", "*", "+", "-"]
        .into_iter()
        .filter(|name| large || !matches!(*name, "+" | "-"))
        // A module that defines the operator itself does not mean the one of the integers.
        .filter(|name| !own.iter().any(|module| defines(module, name)))
        .collect();
    let root = modules.first().map_or("", |(name, _)| name);
    if let Some(ambiguous) = ambiguous_name(root, &own) {
        let message = format!("{ambiguous} has two meanings in the modules, and the checker would take one for both");
        return Err(Diagnostic { stage: Stage::Embedded, line: 0, column: 0, message });
    }
    if let Some(left_out) = specification_name(cfg).and_then(|name| ignored_conjuncts(&name, &own)) {
        return Err(Diagnostic { stage: Stage::Embedded, line: 0, column: 0, message: left_out });
    }
    // The checker would also enforce the assumptions of instances, so the root states those that TLC enforces.
    let stated: String = extension_closure(root, &own)
        .into_iter()
        .filter_map(|module| read.iter().find(|(name, ..)| *name == module.name.text))
        .map(|(name, text, tokens, tree)| state_assumptions(name, text, tokens, tree, &prefix))
        .collect();
    let mut written = Vec::new();
    for (name, text, tokens, tree) in &read {
        let prefix = own_prefix(&prefix, name);
        let mut writer = Writer {
            text,
            tokens,
            module: tree,
            bodies: &own,
            prefix: &prefix,
            guarded: &guarded,
            used: false,
            assumptions: 0,
            changes: Changes::default(),
            refused: None,
        };
        writer.rewrite_spellings();
        writer.rewrite_units(&tree.units);
        if let Some((offset, what)) = writer.refused {
            return Err(embedded_diagnostic(text, name, offset, &what));
        }
        let mut more = if writer.used { arithmetic_definitions(&prefix) } else { String::new() };
        if *name == root {
            more += &stated;
        }
        // The checker counts columns in bytes, and line ends as no line ends if they are not `\n`.
        let is_plain = text.bytes().all(|byte| byte == b'\n' || byte == b' ' || byte.is_ascii_graphic());
        written.push(if writer.changes.is_empty() && more.is_empty() && is_plain {
            CheckerText::unchanged(text)
        } else {
            CheckerText::rewrite(text, tokens, writer.changes, &more)
        });
    }
    Ok(written)
}

fn specification_name(cfg: &str) -> Option<String> {
    Cfg::parse(cfg).ok()?.specification
}

/// The prefix of generated operators in a module.
fn own_prefix(prefix: &str, module: &str) -> String {
    format!("{prefix}_{module}_")
}

/// An `ASSUME` for each assumption of a module, by its name or generated name. A violated one stops with its position
/// in TLC's words. TLC does not check an `AXIOM`.
fn state_assumptions(name: &str, text: &str, tokens: &[Token], tree: &Module, prefix: &str) -> String {
    let assumptions = tree.units.iter().filter_map(|unit| match unit {
        Unit::Assumption(named, formula, offset) => Some((named, formula, *offset)),
        _ => None,
    });
    let mut stated = String::new();
    for (index, (named, formula, offset)) in assumptions.enumerate() {
        if text.get(offset..).is_some_and(|rest| rest.starts_with("AXIOM")) {
            continue;
        }
        let definition = match named {
            Some(named) => named.text.clone(),
            None => assumption_name(&own_prefix(prefix, name), index),
        };
        let place = place_of(formula, text, tokens);
        // Writing to a string cannot fail.
        let _ = writeln!(
            stated,
            "ASSUME IF {definition} THEN TRUE ELSE \"{ASSUMPTION_PREFIX}{place} of module {name}\"[1]"
        );
    }
    stated
}

fn assumption_name(prefix: &str, index: usize) -> String {
    format!("{prefix}Assumption{index}")
}

/// A position in TLC's words: `line 4, col 8 to line 4, col 12`.
fn place_of(expression: &Expr, text: &str, tokens: &[Token]) -> String {
    let line = |offset: usize| text.get(..offset).unwrap_or(text).matches('\n').count() + 1;
    let start = expression.start();
    let first = tokens.iter().find(|token| token.start == start).map_or(1, |token| token.column);
    let last = tokens.iter().find(|token| token.end == expression.end).map_or(1, |token| {
        token.column + text.get(token.start..token.end).map_or(1, |own| own.encode_utf16().count()) - 1
    });
    format!("line {}, col {first} to line {}, col {last}", line(start), line(expression.end))
}

pub(super) fn embedded_diagnostic(text: &str, module: &str, offset: usize, message: &str) -> Diagnostic {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[start..].chars().count() + 1);
    let message = format!("module {module}, line {line}, column {column}: {message}");
    Diagnostic { stage: Stage::Embedded, line, column, message }
}

/// The value of a number in any notation. A number with a decimal point is two tokens.
fn number_value(spelling: &str) -> Option<u64> {
    let radix = match spelling.as_bytes() {
        [b'\\', b'b' | b'B', ..] => 2,
        [b'\\', b'o' | b'O', ..] => 8,
        [b'\\', b'h' | b'H', ..] => 16,
        _ => return spelling.parse().ok(),
    };
    u64::from_str_radix(spelling.get(2..)?, radix).ok()
}

/// Whether a module redefines this operator.
fn defines(module: &Module, name: &str) -> bool {
    module.units.iter().any(|unit| match unit {
        Unit::Operator(definition) => definition.name.text == name,
        Unit::Constants(declared, _) => declared.iter().any(|declared| declared.name.text == name),
        Unit::Module(inner) => defines(inner, name),
        _ => false,
    })
}

/// The largest base whose power fits into 32 bits.
fn largest_base(exponent: u32) -> u64 {
    (1..TLC_INT_LIMIT)
        .take_while(|base| base.checked_pow(exponent).is_some_and(|power| power < TLC_INT_LIMIT))
        .last()
        .unwrap_or(1)
}

/// Definitions of arithmetic that stops where TLC stops.
fn arithmetic_definitions(prefix: &str) -> String {
    let bases: Vec<String> = (2..=31).map(|exponent| largest_base(exponent).to_string()).collect();
    let bases = bases.join(", ");
    let (a, b) = (format!("{prefix}A"), format!("{prefix}B"));
    // To apply a text as a function is an error that shows the text; the checker has no operator that fails with a
    // message.
    let limit = format!("\"{LIMIT_PREFIX}a number beyond 32 bits\"[1]");
    format!(
        "{prefix}Within({a}) == IF {a} > 2147483647 \\/ {a} < -2147483647 - 1 THEN {limit} ELSE {a}\n\
         {prefix}Plus({a}, {b}) == {prefix}Within({a} + {b})\n\
         {prefix}Minus({a}, {b}) == {prefix}Within({a} - {b})\n\
         {prefix}Times({a}, {b}) == {prefix}Within({a} * {b})\n\
         {prefix}Div({a}, {b}) == IF {b} < 0 THEN (-{a}) \\div (-{b}) ELSE {a} \\div {b}\n\
         {prefix}Power({a}, {b}) == IF {b} < 0 THEN \"{UNDEFINED_PREFIX}a negative exponent\"[1]\n\
         \x20   ELSE IF {b} = 0 /\\ {a} = 0 THEN \"{UNDEFINED_PREFIX}0^0\"[1]\n\
         \x20   ELSE IF {b} < 2 \\/ {a} \\in {{-1, 0, 1}} THEN {a} ^ {b}\n\
         \x20   ELSE IF {b} > 31 THEN {limit}\n\
         \x20   ELSE IF {a} > <<{bases}>>[{b} - 1] \\/ -{a} > <<{bases}>>[{b} - 1] THEN {limit}\n\
         \x20   ELSE {a} ^ {b}\n"
    )
}

fn helper_name(operator: &Operator) -> &'static str {
    match operator.name {
        "\\div" => "Div",
        "^" => "Power",
        "*" => "Times",
        "+" => "Plus",
        _ => "Minus",
    }
}

struct Writer<'a> {
    text: &'a str,
    tokens: &'a [Token],
    module: &'a Module,
    bodies: &'a [&'a Module],
    /// The prefix of generated operators in this module.
    prefix: &'a str,
    guarded: &'a [&'static str],
    used: bool,
    /// Assumptions seen so far.
    assumptions: usize,
    changes: Changes,
    refused: Option<(usize, String)>,
}

impl<'a> Writer<'a> {
    /// Replaces tokens that the checker spells differently, or only in one way.
    fn rewrite_spellings(&mut self) {
        for token in self.tokens {
            let own = self.text.get(token.start..token.end).unwrap_or("");
            let other = match token.kind {
                Kind::Operator(operator) | Kind::Bullet(operator) if !own.is_ascii() => operator.name.to_owned(),
                Kind::Mark(mark) if !own.is_ascii() || matches!(own, "\\exists" | "\\forall") => mark.to_owned(),
                Kind::Number if own.starts_with('\\') => match number_value(own) {
                    Some(value) => value.to_string(),
                    None => continue,
                },
                // The checker counts the columns of a tab in a string, too.
                Kind::Text if own.contains('\t') => own.replace('\t', "\\t"),
                Kind::Identifier => match own {
                    "\u{2115}" => "Nat".to_owned(),
                    "\u{2124}" => "Int".to_owned(),
                    "\u{211d}" => "Real".to_owned(),
                    _ => continue,
                },
                _ => continue,
            };
            self.changes.replace(token.start, other);
        }
    }

    fn rewrite_units(&mut self, units: &[Unit]) {
        for unit in units {
            match unit {
                Unit::Operator(definition) => self.rewrite_expression(&definition.body),
                Unit::Function(definition) => {
                    self.rewrite_bounds(&definition.bounds);
                    self.rewrite_expression(&definition.body);
                }
                Unit::Instance(instance, _) => self.rewrite_instance(instance),
                Unit::NamedInstance(named) => self.rewrite_instance(&named.instance),
                Unit::Assumption(name, formula, offset) => {
                    let definition = match name {
                        Some(_) => String::new(),
                        None => format!("{} ==", assumption_name(self.prefix, self.assumptions)),
                    };
                    self.changes.replace(*offset, definition);
                    self.assumptions += 1;
                    self.rewrite_expression(formula);
                }
                Unit::Theorem(theorem) => {
                    if let Statement::Formula(formula) = &theorem.statement {
                        self.rewrite_expression(formula);
                    }
                }
                Unit::Module(inner) => self.rewrite_units(&inner.units),
                Unit::Variables(..) | Unit::Constants(..) | Unit::Recursive(_) | Unit::Use(_) => {}
            }
        }
    }

    fn rewrite_instance(&mut self, instance: &Instance) {
        instance.substitutions.iter().for_each(|(_, value)| self.rewrite_expression(value));
    }

    fn rewrite_bounds(&mut self, bounds: &[Bound]) {
        for bound in bounds {
            self.rewrite_expression(&bound.set);
        }
    }

    /// An expression that is not an operand: between brackets, after `==`, …
    fn rewrite_expression(&mut self, expression: &Expr) {
        if is_operation(expression) {
            let all = parses_differently(expression);
            return self.rewrite_operation(expression, all);
        }
        match &expression.form {
            Form::Path(segments) if segments.iter().skip(1).any(|s| s.kind == SegmentKind::Selector) => {
                let names: Vec<&str> = segments.iter().map(|segment| segment.name.text.as_str()).collect();
                if !self.selects_an_item(&names) {
                    let what =
                        format!("{} names a part of an expression that the checker counts otherwise", names.join("!"));
                    self.refused.get_or_insert((expression.offset, what));
                }
            }
            // The checker drops the label, and the labelled expression would become an operand of the operators around
            // it.
            Form::Label(_, _, body) if is_operation(body) => {
                self.changes.insert_before(body.start(), "(");
                self.changes.insert_after(body.end, ")");
            }
            Form::Let(units, _) => self.rewrite_units(units),
            Form::Apply(operator, _) if operator.name != "'" => {
                let what = format!("the checker does not read the operator {}", operator.name);
                self.refused.get_or_insert((expression.offset, what));
            }
            Form::Operator(operator) if matches!(operator.name, "\\div" | "^") && self.is_guarded(operator) => {
                self.used = true;
                self.changes.replace(expression.offset, format!("{}{}", self.prefix, helper_name(operator)));
            }
            _ => {}
        }
        for_each_part(expression, &mut |part| self.rewrite_expression(part));
    }

    fn is_guarded(&self, operator: &Operator) -> bool {
        self.guarded.contains(&operator.name)
    }

    /// An operator with its operands; `all` puts every operation below it into parentheses.
    fn rewrite_operation(&mut self, expression: &Expr, all: bool) {
        let (operands, operator): (&[Expr], Option<&'static Operator>) = match &expression.form {
            Form::Apply(operator, operands) => (operands, Some(operator)),
            Form::Product(factors) => (factors, None),
            _ => return self.rewrite_expression(expression),
        };
        if let Some(operator) = operator.filter(|operator| !is_known(operator)) {
            let what = format!("the checker does not read the operator {}", operator.name);
            self.refused.get_or_insert((expression.offset, what));
        }
        let guard = operator.filter(|operator| operands.len() == 2 && self.needs_guard(operator, operands));
        if let Some(operator) = guard {
            self.used = true;
            self.changes.insert_before(expression.start(), &format!("{}{}(", self.prefix, helper_name(operator)));
        }
        if operator.is_none()
            && let Some(first) = operands.first()
        {
            self.separate_inner_product(first);
        }
        for (index, operand) in operands.iter().enumerate() {
            if !is_operation(operand) {
                self.rewrite_expression(operand);
                continue;
            }
            let chain = index == 0
                && matches!((&operand.form, operator), (Form::Apply(inner, _), Some(outer))
                    if inner.name == outer.name && outer.is_infix() && outer.left);
            if all && !chain {
                self.changes.insert_before(operand.start(), "(");
            }
            self.rewrite_operation(operand, all);
            if all && !chain {
                self.changes.insert_after(operand.end, ")");
            }
        }
        if guard.is_some() {
            if let Some(first) = operands.first() {
                let sign = self.tokens.partition_point(|token| token.start < first.end);
                if let Some(token) = self.tokens.get(sign) {
                    self.changes.replace(token.start, ",".to_owned());
                }
            }
            self.changes.insert_after(expression.end, ")");
        }
    }

    /// Whether TLC may stop here, or compute something else than the checker.
    fn needs_guard(&self, operator: &Operator, operands: &[Expr]) -> bool {
        let literal = |operand: &Expr| match operand.form {
            Form::Literal => self.text.get(operand.offset..operand.end).and_then(number_value),
            _ => None,
        };
        let two = (operands.first().and_then(literal), operands.get(1).and_then(literal));
        self.is_guarded(operator)
            && operator.is_infix()
            && match (operator.name, two) {
                // The guard is for negative divisors, and a literal is not negative. The product of two numbers below
                // 2^15 fits.
                ("\\div", (_, Some(_))) => false,
                ("*" | "+" | "-", (Some(a), Some(b))) => a.max(b) >= 1 << 15,
                _ => true,
            }
    }

    /// `(A \X B) \X C` is a set of pairs, but the checker makes triples. The IF prevents it from joining the products.
    fn separate_inner_product(&mut self, first: &Expr) {
        let Form::Parenthesis(inner) = &first.form else { return };
        let mut inner = inner;
        while let Form::Parenthesis(deeper) = &inner.form {
            inner = deeper;
        }
        if matches!(inner.form, Form::Product(_)) {
            self.changes.insert_before(inner.start(), "IF TRUE THEN ");
            self.changes.insert_after(inner.end, " ELSE {}");
        }
    }

    /// Whether `D!2` selects an item of a list in `D`. The checker counts the parts of other expressions differently.
    fn selects_an_item(&self, names: &[&str]) -> bool {
        if names.ends_with(&[":"]) {
            return true;
        }
        let Some(first) = names.iter().position(|name| name.bytes().all(|b| b.is_ascii_digit())) else { return false };
        let Some(name) = first.checked_sub(1).and_then(|before| names.get(before)) else { return false };
        let counted = |body: &Form| select_item(body, &names[first..]).is_some();
        // Without an instance in front, the name is defined in this module or in one that it extends.
        if first == 1
            && let Some(own) = self.find_in_scope(self.module, name, self.bodies.len())
        {
            return counted(own);
        }
        let mut found = self.bodies.iter().filter_map(|module| definition_body(module, name)).peekable();
        found.peek().is_some() && found.all(counted)
    }

    fn find_in_scope(&self, module: &'a Module, name: &str, depth: usize) -> Option<&'a Form> {
        let extended = |other: &&&Module| module.extends.iter().any(|extended| extended.text == other.name.text);
        definition_body(module, name).or_else(|| {
            let depth = depth.checked_sub(1)?;
            self.bodies.iter().filter(extended).find_map(|other| self.find_in_scope(other, name, depth))
        })
    }
}

/// The item that nested item numbers lead to.
fn select_item<'a>(form: &'a Form, numbers: &[&str]) -> Option<&'a Form> {
    let [number, rest @ ..] = numbers else { return Some(form) };
    let items = match form {
        Form::List(items, _) => items,
        Form::Apply(operator, operands) if matches!(operator.name, "/\\" | "\\/") => {
            operands.first().filter(|first| !joins_chain(first, operator)).map(|_| operands)?
        }
        _ => return None,
    };
    select_item(&items.get(number.parse::<usize>().ok()?.checked_sub(1)?)?.form, rest)
}

/// Whether the checker joins this operand with the chain around it.
fn joins_chain(operand: &Expr, operator: &Operator) -> bool {
    match &operand.form {
        Form::Parenthesis(inner) => joins_chain(inner, operator),
        Form::Apply(inner, _) | Form::List(_, inner) => inner.name == operator.name,
        _ => false,
    }
}

fn definition_body<'a>(module: &'a Module, name: &str) -> Option<&'a Form> {
    module.units.iter().find_map(|unit| match unit {
        Unit::Operator(definition) if definition.name.text == name => Some(&definition.body.form),
        _ => None,
    })
}
