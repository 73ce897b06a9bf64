//! The model configuration (`.cfg`) as data. It follows Lamport, "Specifying Systems", section 14.7.1, and TLC's class
//! `ModelConfig`; it does not know the module.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::cfg_keyword::{is_keyword, is_newer_condition, keyword_hint};
use super::diagnostic::{Diagnostic, Stage};
use super::lexer::{Kind, Lines, Token, lex};
use super::requirement_comment::{add_new, read_builtin_cover};
use super::semantic::is_expression;

/// A parsed configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cfg {
    pub specification: Option<String>,
    pub init: Option<String>,
    pub next: Option<String>,
    /// Constant assignments `C = v`, and substitutions `C <- D`, whose value starts with `<- `. A substitution in a single
    /// module, `C <- [Mod] D`, has the key `Mod!C`.
    pub constants: BTreeMap<String, String>,
    pub invariants: Vec<String>,
    pub properties: Vec<String>,
    pub constraints: Vec<String>,
    pub action_constraints: Vec<String>,
    pub symmetry: Vec<String>,
    pub view: Option<String>,
    /// `CHECK_DEADLOCK`; `None` if it is not given, and then TLC checks for deadlock.
    pub check_deadlock: Option<bool>,
    pub alias: Option<String>,
    pub postcondition: Option<String>,
    /// Names below keywords of newer versions of TLC, each with its keyword: `_POSSIBLE Reachable`. No checker of this program
    /// checks them, so nothing holds with one of them.
    pub not_checked: Vec<String>,
    /// Names from `\* WITNESS Name` comment lines, in order.
    pub witnesses: Vec<String>,
    /// Requirements that `Deadlock` and `Assertion` cover, from comment lines `\* Deadlock covers R4`.
    pub covers: BTreeMap<String, Vec<String>>,
}

impl Cfg {
    /// Whether none of SPECIFICATION, INIT and NEXT is given. For a module without variables, a checker then checks only
    /// the assumptions.
    pub fn gives_no_behaviour(&self) -> bool {
        self.specification.is_none() && self.init.is_none() && self.next.is_none()
    }

    /// Parses a configuration as TLC does. The error is the first thing that TLC would reject, or a use of `TYPE` or
    /// `TYPE_CONSTRAINT`, which TLC accepts without any effect.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Ok(Self::parse_with_remarks(text)?.0)
    }

    /// The same, with remarks on what has no effect.
    pub fn parse_with_remarks(text: &str) -> Result<(Self, Vec<String>), Diagnostic> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let all = lex(text, 0..text.len());
        let mut cfg = Self::default();
        for comment in all.iter().filter(|token| token.kind == Kind::LineComment) {
            cfg.witnesses.extend(witnesses(comment.text(text)));
            if let Ok(Some((name, ids))) = read_builtin_cover(comment.text(text)) {
                add_new(cfg.covers.entry(name.to_owned()).or_default(), ids);
            }
        }
        let tokens = all.into_iter().filter(|token| !token.is_comment()).collect();
        let mut parser = Parser { text, lines: Lines::new(text), tokens, next: 0, remarks: Vec::new() };
        while let Some(token) = parser.next() {
            parser.section(token, &mut cfg)?;
        }
        Ok((cfg, parser.remarks))
    }

    /// The comments of a configuration that seem to say what something covers and have no effect, with their byte
    /// offsets.
    pub(super) fn unclear_covers(text: &str) -> Vec<(usize, String)> {
        let all = lex(text, 0..text.len()).into_iter().filter(Token::is_comment);
        let unclear = all.filter(|comment| read_builtin_cover(comment.text(text)).is_err());
        let message = |comment: Token| {
            let shown = comment.text(text);
            let message = format!(
                "`{shown}`: a configuration says what `Deadlock` or `Assertion` covers, as in `\\* Deadlock covers R4`; for \
                 any other property, write `\\* covers R4` directly above its definition"
            );
            (comment.start, message)
        };
        unclear.map(message).collect()
    }

    /// Every name that the module must define, with the keyword that lists it.
    pub fn listed_names(&self) -> Vec<(&'static str, &str)> {
        let lists: [(&str, Vec<&String>); 12] = [
            ("SPECIFICATION", self.specification.iter().collect()),
            ("INIT", self.init.iter().collect()),
            ("NEXT", self.next.iter().collect()),
            ("INVARIANT", self.invariants.iter().collect()),
            ("PROPERTY", self.properties.iter().collect()),
            ("WITNESS", self.witnesses.iter().collect()),
            ("CONSTRAINT", self.constraints.iter().collect()),
            ("ACTION_CONSTRAINT", self.action_constraints.iter().collect()),
            ("SYMMETRY", self.symmetry.iter().collect()),
            ("VIEW", self.view.iter().collect()),
            ("ALIAS", self.alias.iter().collect()),
            ("POSTCONDITION", self.postcondition.iter().collect()),
        ];
        lists.into_iter().flat_map(|(role, names)| names.into_iter().map(move |name| (role, name.as_str()))).collect()
    }

    /// The canonical text, which parses to the same configuration.
    pub fn render(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Cfg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |f: &mut fmt::Formatter<'_>, keyword: &str, name: Option<&str>| match name {
            Some(name) => writeln!(f, "{keyword} {name}"),
            None => Ok(()),
        };
        one(f, "SPECIFICATION", self.specification.as_deref())?;
        one(f, "INIT", self.init.as_deref())?;
        one(f, "NEXT", self.next.as_deref())?;
        if !self.constants.is_empty() {
            writeln!(f, "CONSTANTS")?;
        }
        for (name, value) in &self.constants {
            let (sign, value) = value.strip_prefix("<- ").map_or(("=", value.as_str()), |target| ("<-", target));
            match name.split_once('!') {
                Some((module, name)) => writeln!(f, "  {name} {sign} [{module}] {value}")?,
                None => writeln!(f, "  {name} {sign} {value}")?,
            }
        }
        for (keyword, names) in [
            ("INVARIANT", &self.invariants),
            ("PROPERTY", &self.properties),
            ("CONSTRAINT", &self.constraints),
            ("ACTION_CONSTRAINT", &self.action_constraints),
            ("SYMMETRY", &self.symmetry),
        ] {
            for name in names {
                writeln!(f, "{keyword} {name}")?;
            }
        }
        one(f, "VIEW", self.view.as_deref())?;
        one(f, "CHECK_DEADLOCK", self.check_deadlock.map(|on| if on { "TRUE" } else { "FALSE" }))?;
        one(f, "ALIAS", self.alias.as_deref())?;
        one(f, "POSTCONDITION", self.postcondition.as_deref())?;
        for line in &self.not_checked {
            writeln!(f, "{line}")?;
        }
        for name in &self.witnesses {
            writeln!(f, "\\* WITNESS {name}")?;
        }
        for (name, ids) in &self.covers {
            writeln!(f, "\\* {name} covers {}", ids.join(", "))?;
        }
        Ok(())
    }
}

fn hint(word: &str) -> String {
    keyword_hint(word).map_or_else(String::new, |hint| format!("; {hint}"))
}

/// The names of a comment `\* WITNESS A, B`; none if the line contains anything else.
fn witnesses(comment: &str) -> Vec<String> {
    let rest = comment.trim_start_matches("\\*").trim();
    let Some(rest) = rest.strip_prefix("WITNESSES").or_else(|| rest.strip_prefix("WITNESS")) else {
        return Vec::new();
    };
    if !rest.starts_with([' ', '\t', ':']) {
        return Vec::new();
    }
    let names: Vec<&str> =
        rest.trim_start_matches(':').split([' ', '\t', ',']).filter(|name| !name.is_empty()).collect();
    let is_name = |name: &&str| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && name.bytes().any(|b| b.is_ascii_alphabetic())
    };
    if names.iter().all(is_name) { names.into_iter().map(str::to_owned).collect() } else { Vec::new() }
}

/// Whether a token is the symbol of an operator.
fn is_operator(symbol: &str) -> bool {
    let is_named = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    symbol.strip_prefix('\\').is_some_and(is_named)
        || (!symbol.is_empty() && symbol.bytes().all(|byte| b"+-*/%^<>=&|#~!?$@.:\\".contains(&byte)))
}

const TWO_KINDS: &str = "a set has values of two kinds";

/// What a value can be compared with. TLC ends with an error if it compares others.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ValueKind {
    /// A model value can be compared with every value.
    Any,
    Boolean,
    Number,
    Text,
    /// The different elements, and the kind of one that is no model value.
    Set(usize, Box<ValueKind>),
}

impl ValueKind {
    /// Whether TLC can compare two values. It compares the sizes of sets first.
    fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::Set(size, one), Self::Set(others, other)) => size != others || one.fits(other),
            (one, other) => one == other,
        }
    }
}

/// What to write instead of a value in the wrong place.
fn way_out(value: Result<String, Diagnostic>, right: impl Fn(String) -> String) -> String {
    match value {
        Ok(value) => right(value),
        Err(wrong) => wrong.message,
    }
}

struct Parser<'a> {
    text: &'a str,
    lines: Lines,
    /// Without comments.
    tokens: Vec<Token>,
    /// The index of the next token.
    next: usize,
    remarks: Vec<String>,
}

/// Some editors put it before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.next).copied();
        self.next += usize::from(token.is_some());
        token
    }

    fn peek(&self) -> &'a str {
        self.tokens.get(self.next).map_or("", |token| token.text(self.text))
    }

    fn error<T>(&self, token: Option<Token>, message: impl Into<String>) -> Result<T, Diagnostic> {
        let offset = token.map_or(self.text.trim_end().len(), |token| token.start);
        let (line, column) = self.lines.position(self.text, offset);
        Err(Diagnostic { stage: Stage::Config, line, column, message: message.into() })
    }

    /// Says that something is given twice. TLC accepts it, and the second time has no effect if it says the same.
    fn remark_repeated(&mut self, token: Token, what: &str) {
        let (line, _) = self.lines.position(self.text, token.start);
        self.remarks.push(format!("{what} is given twice in the configuration (line {line})"));
    }

    fn is_name(&self, token: Token) -> bool {
        token.kind == Kind::Word && !is_keyword(token.text(self.text))
    }

    fn section(&mut self, token: Token, cfg: &mut Cfg) -> Result<(), Diagnostic> {
        let keyword = token.text(self.text);
        let mut single = None;
        match keyword {
            "CONSTANT" | "CONSTANTS" => return self.constants(cfg),
            "INVARIANT" | "INVARIANTS" => return self.names(&mut cfg.invariants),
            "PROPERTY" | "PROPERTIES" => return self.names(&mut cfg.properties),
            "CONSTRAINT" | "CONSTRAINTS" => return self.names(&mut cfg.constraints),
            "ACTION_CONSTRAINT" | "ACTION_CONSTRAINTS" => return self.names(&mut cfg.action_constraints),
            "SYMMETRY" => return self.names(&mut cfg.symmetry),
            "CHECK_DEADLOCK" => {
                let value = self.next();
                let on = match value.map(|value| value.text(self.text)) {
                    Some("TRUE") => true,
                    Some("FALSE") => false,
                    _ => return self.error(value.or(Some(token)), "CHECK_DEADLOCK wants TRUE or FALSE"),
                };
                if cfg.check_deadlock.replace(on).is_some() {
                    return self.error(Some(token), "CHECK_DEADLOCK is given twice");
                }
                return Ok(());
            }
            "SPECIFICATION" => single = Some(&mut cfg.specification),
            "INIT" => single = Some(&mut cfg.init),
            "NEXT" => single = Some(&mut cfg.next),
            "VIEW" => single = Some(&mut cfg.view),
            "ALIAS" => single = Some(&mut cfg.alias),
            "POSTCONDITION" => single = Some(&mut cfg.postcondition),
            _ if is_newer_condition(keyword) => {
                let mut names = Vec::new();
                self.names(&mut names)?;
                if names.is_empty() {
                    return self.error(Some(token), format!("{keyword} wants a name"));
                }
                cfg.not_checked.extend(names.iter().map(|name| format!("{keyword} {name}")));
                return Ok(());
            }
            "TYPE" | "TYPE_CONSTRAINT" => {
                return self.error(Some(token), format!("{keyword} has no effect in TLC: list an INVARIANT instead"));
            }
            _ => {}
        }
        let Some(slot) = single else {
            return self.error(Some(token), format!("not a keyword of a configuration: `{keyword}`{}", hint(keyword)));
        };
        match self.next() {
            Some(name) if self.is_name(name) => {
                let name = name.text(self.text).to_owned();
                match slot.replace(name.clone()) {
                    None => {}
                    Some(before) if before == name => self.remark_repeated(token, &format!("{keyword} {name}")),
                    Some(_) => return self.error(Some(token), format!("{keyword} is given twice")),
                }
                Ok(())
            }
            other => self.error(other.or(Some(token)), format!("{keyword} wants a name")),
        }
    }

    fn names(&mut self, into: &mut Vec<String>) -> Result<(), Diagnostic> {
        while let Some(token) = self.tokens.get(self.next).copied() {
            if !self.is_name(token) {
                break;
            }
            let name = token.text(self.text);
            if into.iter().any(|known| known == name) {
                self.remark_repeated(token, name);
            } else {
                into.push(name.to_owned());
            }
            self.next += 1;
            // TLC separates names by blanks; commas are a common mistake, so they get an error of their own.
            if self.peek() == "," {
                return self.error(self.tokens.get(self.next).copied(), "names are separated by blanks, not by commas");
            }
        }
        Ok(())
    }

    fn constants(&mut self, cfg: &mut Cfg) -> Result<(), Diagnostic> {
        while let Some(token) = self.tokens.get(self.next).copied() {
            if !self.is_name(token) && !self.is_replaced_operator(token) {
                break;
            }
            self.next += 1;
            let mut name = token.text(self.text).to_owned();
            if self.peek() == "!" {
                return self.error(Some(token), "a constant of an instance cannot be assigned: use `C <- [Module] D`");
            }
            if self.peek() == "(" {
                self.next += 1;
                name = format!("{name}({})", self.list(")")?.join(", "));
            }
            let sign = self.next();
            let value = match sign.map(|sign| sign.text(self.text)) {
                Some("=") => {
                    self.module_prefix(&mut name)?;
                    self.constant_value(&name)?
                }
                Some("<-") => {
                    self.module_prefix(&mut name)?;
                    match self.next() {
                        Some(target) if self.is_name(target) || self.is_target(target) => {
                            format!("<- {}", target.text(self.text))
                        }
                        Some(other) => {
                            self.next -= 1;
                            let way = way_out(self.constant_value(&name), |value| format!("write `{name} = {value}`"));
                            return self
                                .error(Some(other), format!("`{name} <-` wants the name of a definition: {way}"));
                        }
                        None => return self.error(sign, format!("`{name} <-` wants the name of a definition")),
                    }
                }
                Some("==" | ":=") => {
                    let way = way_out(self.constant_value(&name), |value| format!("write `{name} = {value}`"));
                    return self.error(sign, format!("`{name}` wants `= value` or `<- Definition`: {way}"));
                }
                _ => {
                    let hint = hint(&name);
                    return self
                        .error(sign.or(Some(token)), format!("`{name}` wants `= value` or `<- Definition`{hint}"));
                }
            };
            match cfg.constants.get(&name) {
                None => {}
                Some(before) if *before == value => self.remark_repeated(token, &name),
                Some(before) => {
                    return self.error(Some(token), format!("`{name}` is assigned twice: {before}, and here {value}"));
                }
            }
            cfg.constants.insert(name, value);
        }
        Ok(())
    }

    /// The text of an expression that begins here: up to the next assignment or keyword. `None` if it is no
    /// expression, or a long one.
    fn expression_from(&self, first: Token) -> Option<&'a str> {
        let begin = self.tokens.iter().position(|token| token.start == first.start)?;
        let is_sign = |token: &Token| matches!(token.text(self.text), "=" | "<-");
        let mut end = first.end;
        for (at, token) in self.tokens.iter().enumerate().skip(begin) {
            let is_next = self.is_name(*token) && self.tokens.get(at + 1).is_some_and(is_sign);
            if at > begin && (is_next || is_keyword(token.text(self.text))) {
                break;
            }
            end = token.end;
        }
        let text = &self.text[first.start..end];
        let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(str::trim);
        // A set that has a range as its only element is hardly meant.
        let text = inner.filter(|inner| inner.contains("..") && !inner.contains([',', '{', ':'])).unwrap_or(text);
        (text.len() <= 60 && !text.contains('\n') && is_expression(text)).then_some(text)
    }

    /// Whether this is an operator symbol, and not the beginning of a value such as `-1`.
    fn is_target(&self, token: Token) -> bool {
        let text = token.text(self.text);
        let is_value = self.tokens.get(self.next).is_some_and(|next| next.kind == Kind::Number) || text == "<<";
        is_operator(text) && !is_value
    }

    /// Whether this is an operator symbol that the configuration replaces: `++ <- Plus`.
    fn is_replaced_operator(&self, token: Token) -> bool {
        let sign = self.tokens.get(self.next + 1).map(|token| token.text(self.text));
        is_operator(token.text(self.text)) && sign == Some("<-")
    }

    /// Parses an optional `[Module]` and adds it to the name: `Module!C`.
    fn module_prefix(&mut self, name: &mut String) -> Result<(), Diagnostic> {
        let close = self.tokens.get(self.next + 2).map(|token| token.text(self.text));
        if self.peek() != "[" || close != Some("]") {
            return Ok(());
        }
        let open = self.next();
        let module = self.next();
        let close = self.next();
        match (module, close) {
            (Some(module), Some(close)) if module.kind == Kind::Word && close.text(self.text) == "]" => {
                *name = format!("{}!{name}", module.text(self.text));
                Ok(())
            }
            _ => self.error(open, "`[` wants a module's name and `]`"),
        }
    }

    /// Parses the value of a constant. An expression that is none gets the way to give it nevertheless.
    fn constant_value(&mut self, name: &str) -> Result<String, Diagnostic> {
        let first = self.tokens.get(self.next).copied();
        let parsed = self.value(0);
        let next = self.tokens.get(self.next).copied();
        let goes_on = next.filter(|next| next.kind == Kind::Symbol && !self.is_replaced_operator(*next));
        let wrong = match (parsed, goes_on) {
            (Ok((value, _)), None) => return Ok(value),
            (Ok(_), Some(next)) => {
                let symbol = next.text(self.text);
                if matches!(symbol, "," | ";") {
                    return self.error(Some(next), format!("constants are separated by blanks, not by `{symbol}`"));
                }
                self.error(Some(next), format!("not a value that a configuration can hold: it goes on with `{symbol}`"))
            }
            (Err(wrong), _) => Err(wrong),
        };
        let (Err::<(), _>(wrong), Some(first)) = (wrong, first) else { return self.error(first, "a value is missing") };
        let is_toolbox =
            self.text[first.start..].strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with("model value"));
        if is_toolbox {
            return Err(Diagnostic { message: format!("a model value has the form `{name} = {name}`"), ..wrong });
        }
        let expression = self.expression_from(first);
        let is_kind = wrong.message.starts_with(TWO_KINDS);
        let Some(expression) = expression.filter(|_| !is_kind && !is_keyword(first.text(self.text))) else {
            return Err(wrong);
        };
        let plain = name.split(['!', '(']).next_back().unwrap_or(name);
        let message = format!(
            "{}. A configuration has only numbers, strings, TRUE, FALSE, model values and sets of them: define `My{plain} == {expression}` in \
             the module, and write `{plain} <- My{plain}`",
            wrong.message
        );
        Err(Diagnostic { message, ..wrong })
    }

    fn value(&mut self, depth: usize) -> Result<(String, ValueKind), Diagnostic> {
        let token = self.next();
        let Some(first) = token else { return self.error(None, "a value is missing") };
        let text = first.text(self.text);
        match (first.kind, text) {
            (Kind::Number, _) => Ok((text.to_owned(), ValueKind::Number)),
            (Kind::Text, _) if text.len() >= 2 && text.ends_with('"') => Ok((text.to_owned(), ValueKind::Text)),
            (Kind::Symbol, "-") => match self.next() {
                Some(number) if number.kind == Kind::Number => {
                    Ok((format!("-{}", number.text(self.text)), ValueKind::Number))
                }
                other => self.error(other.or(token), "`-` wants a number"),
            },
            (Kind::Symbol, "{") if depth < 64 => {
                let (elements, kind) = self.elements("}", depth + 1)?;
                Ok((format!("{{{}}}", elements.join(", ")), kind))
            }
            (Kind::Word, "TRUE" | "FALSE") => Ok((text.to_owned(), ValueKind::Boolean)),
            (Kind::Word, _) if self.is_name(first) => Ok((text.to_owned(), ValueKind::Any)),
            _ => self.error(token, format!("not a value that a configuration can hold: `{text}`")),
        }
    }

    fn list(&mut self, close: &str) -> Result<Vec<String>, Diagnostic> {
        Ok(self.elements(close, 1)?.0)
    }

    /// The elements of a list, and what kind of value they all are.
    fn elements(&mut self, close: &str, depth: usize) -> Result<(Vec<String>, ValueKind), Diagnostic> {
        let mut elements: Vec<String> = Vec::new();
        let mut kinds: Vec<ValueKind> = Vec::new();
        let kind_of = |elements: &[String], kinds: &[ValueKind]| {
            let different: BTreeSet<&String> = elements.iter().collect();
            let kind = kinds.iter().find(|kind| **kind != ValueKind::Any).cloned().unwrap_or(ValueKind::Any);
            ValueKind::Set(different.len(), Box::new(kind))
        };
        if self.peek() == close {
            self.next += 1;
            return Ok((elements, kind_of(&[], &[])));
        }
        loop {
            let first = self.tokens.get(self.next).copied();
            let (element, own) = self.value(depth)?;
            if close == "}"
                && let Some(at) = kinds.iter().position(|kind| !kind.fits(&own))
            {
                let known = &elements[at];
                return self.error(first, format!("{TWO_KINDS}: {known} and {element} cannot be compared"));
            }
            kinds.push(own);
            elements.push(element);
            let token = self.next();
            match token.map(|token| token.text(self.text)) {
                Some(",") => {}
                Some(text) if text == close => {
                    let kind = kind_of(&elements, &kinds);
                    return Ok((elements, kind));
                }
                _ => return self.error(token, format!("`,` or `{close}` expected")),
            }
        }
    }
}
