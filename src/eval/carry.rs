//! Properties carried over from one module to another: their definitions and all that these depend on, by parse tree,
//! renamed where the other module has the name for something else. What the other module lacks is named. Pure.
//!
//! A new name has as many bytes as the old one: bulleted lists hang together by their columns.

use std::collections::{BTreeMap, BTreeSet};

use crate::tla::semantic::exported_names;
use crate::tla::{Definition, DefinitionKind, Module};

/// Words of the language among the names that a definition refers to.
const WORDS: &[&str] = &["TRUE", "FALSE", "BOOLEAN", "STRING", "DOMAIN", "SUBSET", "UNION", "ENABLED", "UNCHANGED"];

/// Variables that a translation makes: what they hold is of its own algorithm.
const CONTROL: &[&str] = &["pc", "stack"];

/// Where properties come from and where they go.
pub struct Carrier<'a> {
    from: &'a Module,
    to: &'a Module,
    own: BTreeMap<&'a str, &'a Definition>,
    theirs: BTreeMap<&'a str, &'a Definition>,
    /// Names that mean something in the other module, those of the modules it extends included.
    taken: BTreeSet<String>,
    /// What it declares, here or in a module that stands beside it.
    variables: BTreeSet<String>,
    constants: BTreeMap<String, usize>,
    /// Definitions that both have, with everything they depend on.
    shared: BTreeSet<&'a str>,
    /// Control state that the case's interface asks for by name, and that therefore means the same in both.
    agreed: &'a [String],
}

/// A module with properties put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// Its text.
    pub text: String,
    /// What each property is called in it.
    pub names: BTreeMap<String, String>,
}

impl<'a> Carrier<'a> {
    /// Both modules with their translations in place; `beside` are the modules that the second one builds on. `agreed`
    /// are the variables of the case's interface.
    pub fn new(from: &'a Module, to: &'a Module, beside: &[Module], agreed: &'a [String]) -> Self {
        let own = from.definitions_by_name();
        let theirs = to.definitions_by_name();
        let mut taken = BTreeSet::new();
        let (mut variables, mut constants) = (BTreeSet::new(), BTreeMap::new());
        for module in std::iter::once(to).chain(beside) {
            taken.extend(module.definitions_by_name().keys().map(|name| (*name).to_owned()));
            variables.extend(module.variables.iter().map(|v| v.name.clone()));
            constants.extend(module.constants.iter().map(|c| (c.name.clone(), c.arity)));
            taken.extend(
                module.extends.iter().chain(&module.instances).filter_map(|name| exported_names(name)).flatten(),
            );
        }
        taken.extend(variables.iter().cloned());
        taken.extend(constants.keys().cloned());
        let mut carrier = Self { from, to, own, theirs, taken, variables, constants, shared: BTreeSet::new(), agreed };
        carrier.shared = carrier.shared();
        carrier
    }

    /// Definitions of the same text whose references, too, are to such definitions: the same in both modules.
    fn shared(&self) -> BTreeSet<&'a str> {
        let same = |name: &&str| {
            let (Some(own), Some(theirs)) = (self.own.get(*name), self.theirs.get(*name)) else { return false };
            !own.has_syntax_errors && own.normalised(&self.from.source) == theirs.normalised(&self.to.source)
        };
        let mut shared: BTreeSet<&str> = self.own.keys().copied().filter(same).collect();
        loop {
            let stays = |name: &&str| {
                let own = self.own[*name];
                let refers = own.referenced_names().iter().filter(|n| self.own.contains_key(n.as_str()));
                self.is_whole_state(own) || refers.into_iter().all(|n| shared.contains(n.as_str()))
            };
            let kept: BTreeSet<&str> = shared.iter().copied().filter(stays).collect();
            if kept.len() == shared.len() {
                return kept;
            }
            shared = kept;
        }
    }

    /// Whether a definition is the tuple of all variables (`vars`): in the other module its counterpart is the tuple of
    /// all of its own.
    fn is_whole_state(&self, definition: &Definition) -> bool {
        is_whole_state_of(definition, self.from)
    }

    /// The definitions that have to come along with a property, in the order of their text, itself included; what the
    /// other module already has the same is left out.
    ///
    /// # Errors
    /// What is missing there, each with what it is: `variable pending`.
    pub fn needed(&self, property: &str) -> Result<Vec<&'a str>, Vec<String>> {
        if !self.own.contains_key(property) {
            return Err(vec![format!("definition {property} (not in the generated module)")]);
        }
        let mut missing = BTreeSet::new();
        let mut needed: BTreeSet<&'a str> = BTreeSet::new();
        let mut open = vec![property];
        while let Some(name) = open.pop() {
            let Some((name, definition)) = self.own.get_key_value(name) else { continue };
            if self.shared.contains(name) || !needed.insert(name) || self.is_whole_state(definition) {
                continue;
            }
            if definition.has_syntax_errors {
                missing.insert(format!("a readable definition of {name}"));
            }
            if definition.kind == DefinitionKind::Instance {
                missing.extend(self.foreign_module(definition));
            }
            for refers in definition.referenced_names() {
                match self.own.get_key_value(refers.as_str()) {
                    Some((refers, _)) => open.push(refers),
                    None => missing.extend(self.lacks(refers)),
                }
            }
        }
        if !missing.is_empty() {
            return Err(missing.into_iter().collect());
        }
        let extended = self.extended(&needed);
        let clashes: Vec<String> = extended.iter().filter_map(|module| self.clash(module)).collect();
        if !clashes.is_empty() {
            return Err(clashes);
        }
        let infix: Vec<String> = needed
            .iter()
            .filter(|name| !is_word(name) && self.taken.contains(**name))
            .map(|name| format!("operator {name} (it means something else there)"))
            .collect();
        if !infix.is_empty() {
            return Err(infix);
        }
        let mut needed: Vec<&str> = needed.into_iter().collect();
        needed.sort_by_key(|name| self.own[name].code.start);
        Ok(needed)
    }

    /// What a reference to something that the generated module does not define needs and the other module lacks.
    fn lacks(&self, name: &str) -> Option<String> {
        if let Some(constant) = self.from.constants.iter().find(|c| c.name == name) {
            let there = self.constants.get(name) == Some(&constant.arity);
            return (!there).then(|| format!("constant {name}"));
        }
        if self.from.variable_names().contains(name) {
            let control = CONTROL.contains(&name) && (self.from.algorithm.is_some() || self.to.algorithm.is_some());
            if control && !self.agreed.iter().any(|agreed| agreed == name) {
                return Some(format!("variable {name} (the control state of its own algorithm)"));
            }
            return (!self.variables.contains(name)).then(|| format!("variable {name}"));
        }
        if WORDS.contains(&name) {
            return None;
        }
        let standard = self.standard(name);
        if standard.is_none() && is_word(name) && self.from.is_self_contained() {
            // A module whose interface is not known may define it.
            let unknown = self.from.extends.iter().chain(&self.from.instances).any(|m| exported_names(m).is_none());
            return (!unknown).then(|| format!("operator {name}"));
        }
        if standard.is_none() && is_word(name) {
            return Some(format!("operator {name} (of another module)"));
        }
        let redefined = standard.is_some() && self.theirs.contains_key(name);
        redefined.then(|| format!("operator {name} of the standard modules (it means something else there)"))
    }

    fn foreign_module(&self, definition: &Definition) -> Option<String> {
        let text = definition.normalised(&self.from.source);
        let module = text.split_whitespace().skip_while(|word| *word != "INSTANCE").nth(1)?;
        exported_names(module).is_none().then(|| format!("module {module}"))
    }

    /// The standard module that the generated one extends and that gives this name.
    fn standard(&self, name: &str) -> Option<&'a str> {
        let gives = |module: &&String| exported_names(module).is_some_and(|names| names.contains(name));
        self.from.extends.iter().chain(&self.from.instances).find(gives).map(String::as_str)
    }

    /// The modules that the other one has to extend for these definitions.
    fn extended(&self, needed: &BTreeSet<&str>) -> BTreeSet<&'a str> {
        let mut modules = BTreeSet::new();
        for name in needed {
            let definition = self.own[name];
            if self.is_whole_state(definition) {
                continue;
            }
            for refers in definition.referenced_names().iter().filter(|n| !self.own.contains_key(n.as_str())) {
                match self.standard(refers) {
                    Some(module) if !self.taken.contains(refers) => {
                        modules.insert(module);
                    }
                    None if is_word(refers) && !self.declares(refers) && !WORDS.contains(&refers.as_str()) => {
                        let unknown = self.from.extends.iter().filter(|m| exported_names(m).is_none());
                        modules.extend(unknown.filter(|m| !self.to.extends.contains(m)).map(String::as_str));
                    }
                    _ => {}
                }
            }
        }
        modules
    }

    fn declares(&self, name: &str) -> bool {
        self.from.variable_names().contains(name) || self.from.constants.iter().any(|c| c.name == name)
    }

    /// Why the other module cannot extend this one.
    fn clash(&self, module: &str) -> Option<String> {
        let names = exported_names(module)?;
        let own = |name: &&String| self.theirs.contains_key(name.as_str()) || self.declared_there(name);
        names.iter().find(own).map(|name| format!("module {module} (its {name} means something else there)"))
    }

    fn declared_there(&self, name: &str) -> bool {
        self.variables.contains(name) || self.constants.contains_key(name)
    }

    /// The other module with these properties in it, each of which [`Carrier::needed`] accepted. `None` where it has no
    /// end, or a name of one letter could not be replaced.
    pub fn put(&self, properties: &[&str]) -> Option<Put> {
        let mut needed: BTreeSet<&str> = BTreeSet::new();
        for property in properties {
            needed.extend(self.needed(property).ok()?);
        }
        let mut order: Vec<&str> = needed.iter().copied().collect();
        order.sort_by_key(|name| self.own[name].code.start);
        let extended = self.extended(&needed);
        let mut taken = self.taken.clone();
        taken.extend(extended.iter().filter_map(|module| exported_names(module)).flatten());
        let mut fresh = Fresh::new(taken, self);
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for name in &order {
            if is_word(name) && fresh.is_taken(name) {
                names.insert((*name).to_owned(), fresh.instead_of(name)?);
            } else {
                fresh.take(name);
            }
        }
        let mut carried = String::new();
        for declared in self.from.recursive.iter().filter(|declared| needed.contains(declared.name.as_str())) {
            let name = names.get(&declared.name).unwrap_or(&declared.name);
            let holes = vec!["_"; declared.arity].join(", ");
            let holes = if holes.is_empty() { holes } else { format!("({holes})") };
            carried.extend(["RECURSIVE ", name, &holes, "\n"]);
        }
        for name in &order {
            carried += &self.definition(name, &names, &mut fresh)?;
            carried.push_str("\n\n");
        }
        let called = |name: &&str| ((*name).to_owned(), names.get(*name).cloned().unwrap_or((*name).to_owned()));
        Some(Put { text: self.insert(&carried, &extended)?, names: properties.iter().map(called).collect() })
    }

    /// One definition as it stands in the other module.
    fn definition(&self, name: &str, names: &BTreeMap<String, String>, fresh: &mut Fresh) -> Option<String> {
        let definition = self.own[name];
        let source = &self.from.source;
        if self.is_whole_state(definition) {
            let known = self.from.variables.iter().map(|v| v.name.as_str()).filter(|v| self.variables.contains(*v));
            let all: Vec<&str> =
                known.filter(|v| self.agreed.iter().any(|name| name == v) || !matches!(*v, "pc" | "stack")).collect();
            let name = names.get(name).map_or(name, String::as_str);
            return Some(format!("{name} == <<{}>>", all.join(", ")));
        }
        // A bound name may be no other's either.
        let mut replaced = names.clone();
        for bound in definition.bound_names(source) {
            replaced.remove(&bound);
            if fresh.is_taken(&bound) {
                replaced.insert(bound.clone(), fresh.instead_of(&bound)?);
            }
        }
        let line = source[..definition.code.start].rfind('\n').map_or(0, |at| at + 1);
        let indent = source[line..definition.code.start].chars().map(|c| if c == '\t' { c } else { ' ' });
        Some(indent.collect::<String>() + &definition.renamed(source, &replaced)?)
    }

    /// Before the module's real end, and what it needs to extend at its EXTENDS.
    fn insert(&self, carried: &str, extended: &BTreeSet<&str>) -> Option<String> {
        let source = &self.to.source;
        let end = self.to.terminator.as_ref()?.start;
        let line = source[..end].rfind('\n').map_or(0, |at| at + 1);
        let end = if source[line..end].trim().is_empty() { line } else { end };
        let list = extended.iter().copied().collect::<Vec<_>>().join(", ");
        let (place, addition) = match self.to.extends_end() {
            _ if list.is_empty() => (self.to.header.end, String::new()),
            Some(at) => (at, format!(", {list}")),
            None => {
                let header = self.to.header.end;
                (header + source[header..].find('\n')?, format!("\nEXTENDS {list}"))
            }
        };
        Some(format!("{}{addition}{}\n{carried}{}", &source[..place], &source[place..end], &source[end..]))
    }
}

fn is_whole_state_of(definition: &Definition, module: &Module) -> bool {
    let variables: BTreeSet<&str> = module.variables.iter().map(|v| v.name.as_str()).collect();
    let text = definition.normalised(&module.source);
    let Some((_, body)) = text.split_once("==") else { return false };
    let body = body.trim();
    let inner = body.strip_prefix("<<").and_then(|b| b.strip_suffix(">>"));
    let listed: Option<BTreeSet<&str>> = inner.map(|inner| inner.split(',').map(str::trim).collect());
    !variables.is_empty() && definition.arity() == 0 && listed.is_some_and(|listed| listed == variables)
}

fn is_word(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && name.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Names that nobody has.
struct Fresh {
    taken: BTreeSet<String>,
    /// What is bound somewhere, and may be given to nobody else.
    bound: BTreeSet<String>,
}

impl Fresh {
    fn new(taken: BTreeSet<String>, carrier: &Carrier<'_>) -> Self {
        let inside = |module: &Module| {
            let all = module.definitions.iter();
            all.flat_map(|definition| definition.bound_names(&module.source)).collect::<Vec<_>>()
        };
        let mut bound: BTreeSet<String> = inside(carrier.from).into_iter().chain(inside(carrier.to)).collect();
        bound.extend(carrier.own.keys().map(|name| (*name).to_owned()));
        bound.extend(carrier.from.variable_names().into_iter().map(str::to_owned));
        bound.extend(carrier.from.constants.iter().map(|c| c.name.clone()));
        Self { taken, bound }
    }

    fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(name)
    }

    fn take(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    /// A name of the same length that nobody has.
    fn instead_of(&mut self, name: &str) -> Option<String> {
        const SIGNS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        // A name begins with a letter, and no keyword holds a digit or a small letter.
        let length = name.len();
        let (kept, signs) = if length == 1 { ("", &SIGNS[10..]) } else { (&name[..1], &SIGNS[..36]) };
        let tail = (length - kept.len()).min(4);
        let stem = &name[kept.len()..length - tail];
        let count = signs.len().pow(u32::try_from(tail).ok()?);
        for number in 0..count {
            let mut rest = number;
            let mut ending = vec![signs[0]; tail];
            for sign in ending.iter_mut().rev() {
                *sign = signs[rest % signs.len()];
                rest /= signs.len();
            }
            let found = format!("{kept}{stem}{}", String::from_utf8(ending).ok()?);
            if !self.taken.contains(&found) && !self.bound.contains(&found) {
                self.taken.insert(found.clone());
                return Some(found);
            }
        }
        None
    }
}
