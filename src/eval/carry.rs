//! Carries properties over from a generated module to a target module: copies their definitions with all dependencies, and
//! renames those whose name the target uses for something else. Reports what the target lacks. Pure.
//!
//! A new name has as many bytes as the old one, because the columns of bulleted lists are significant.

use std::collections::{BTreeMap, BTreeSet};

use crate::tla::semantic::exported_names;
use crate::tla::{Definition, DefinitionKind, Module, with_extended};

/// Keywords that the parser reports among the names that a definition refers to.
const KEYWORDS: &[&str] = &["TRUE", "FALSE", "BOOLEAN", "STRING", "DOMAIN", "SUBSET", "UNION", "ENABLED", "UNCHANGED"];

/// Variables of the PlusCal translation: their values depend on the algorithm.
const CONTROL_VARIABLES: &[&str] = &["pc", "stack"];

/// Carries properties from one module to another.
pub struct Carrier<'a> {
    from: &'a Module,
    to: &'a Module,
    own: BTreeMap<&'a str, &'a Definition>,
    theirs: BTreeMap<&'a str, &'a Definition>,
    /// Names with a meaning in the target, including those of modules that it extends.
    taken: BTreeSet<String>,
    /// Variables of the target and of the modules that it builds on.
    variables: BTreeSet<String>,
    /// Constants of the same modules, with their arity.
    constants: BTreeMap<String, usize>,
    /// Definitions that are the same in both modules, with everything they depend on.
    shared: BTreeSet<&'a str>,
    /// Variables of the case's interface, which mean the same in both modules.
    interface: &'a [String],
}

/// A target module with properties inserted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleWithProperties {
    pub text: String,
    /// The name of each property in this module.
    pub names: BTreeMap<String, String>,
}

impl<'a> Carrier<'a> {
    /// Both modules must contain their translations. `local_modules` are the modules that the target builds on, `interface` the
    /// variables of the case's interface.
    pub fn new(from: &'a Module, to: &'a Module, local_modules: &[Module], interface: &'a [String]) -> Self {
        let own = from.definitions_by_name();
        let theirs = to.definitions_by_name();
        let mut taken = BTreeSet::new();
        let (mut variables, mut constants) = (BTreeSet::new(), BTreeMap::new());
        for module in std::iter::once(to).chain(local_modules) {
            taken.extend(module.definitions_by_name().keys().map(|name| (*name).to_owned()));
            variables.extend(module.variables.iter().map(|v| v.name.clone()));
            constants.extend(module.constants.iter().map(|c| (c.name.clone(), c.arity)));
            taken.extend(
                module.extends.iter().chain(&module.instances).filter_map(|name| exported_names(name)).flatten(),
            );
        }
        taken.extend(variables.iter().cloned());
        taken.extend(constants.keys().cloned());
        let mut carrier =
            Self { from, to, own, theirs, taken, variables, constants, shared: BTreeSet::new(), interface };
        carrier.shared = carrier.find_shared_definitions();
        carrier
    }

    /// Definitions with the same text in both modules that only refer to such definitions.
    fn find_shared_definitions(&self) -> BTreeSet<&'a str> {
        let same = |name: &&str| {
            let (Some(own), Some(theirs)) = (self.own.get(*name), self.theirs.get(*name)) else { return false };
            !own.has_syntax_errors && own.normalised(&self.from.source) == theirs.normalised(&self.to.source)
        };
        // A greatest fixed point: start with all definitions of the same text, and remove those that depend on a
        // different one until none is left to remove. So recursive definitions can be shared, too.
        let mut shared: BTreeSet<&str> = self.own.keys().copied().filter(same).collect();
        loop {
            let stays = |name: &&str| {
                let own = self.own[*name];
                let refers = own.referenced_names().iter().filter(|n| self.own.contains_key(n.as_str()));
                self.is_variable_tuple(own) || refers.into_iter().all(|n| shared.contains(n.as_str()))
            };
            let kept: BTreeSet<&str> = shared.iter().copied().filter(stays).collect();
            if kept.len() == shared.len() {
                return kept;
            }
            shared = kept;
        }
    }

    /// Whether a definition is the tuple of all variables (`vars`). Its counterpart in the target is the tuple of the
    /// target's variables.
    fn is_variable_tuple(&self, definition: &Definition) -> bool {
        is_variable_tuple_of(definition, self.from)
    }

    /// The definitions to copy for a property, including itself, in the order of their text; without those that the target
    /// shares.
    ///
    /// # Errors
    /// What the target lacks, each with its kind: `variable pending`.
    pub fn needed_definitions(&self, property: &str) -> Result<Vec<&'a str>, Vec<String>> {
        if !self.own.contains_key(property) {
            return Err(vec![format!("definition {property} (not in the generated module)")]);
        }
        let mut missing = BTreeSet::new();
        let mut needed: BTreeSet<&'a str> = BTreeSet::new();
        let mut open = vec![property];
        while let Some(name) = open.pop() {
            let Some((name, definition)) = self.own.get_key_value(name) else { continue };
            if self.shared.contains(name) || !needed.insert(name) || self.is_variable_tuple(definition) {
                continue;
            }
            if definition.has_syntax_errors {
                missing.insert(format!("a readable definition of {name}"));
            }
            if definition.kind == DefinitionKind::Instance {
                missing.extend(self.missing_module(definition));
            }
            for refers in definition.referenced_names() {
                match self.own.get_key_value(refers.as_str()) {
                    Some((refers, _)) => open.push(refers),
                    None => missing.extend(self.missing_name(refers)),
                }
            }
        }
        if !missing.is_empty() {
            return Err(missing.into_iter().collect());
        }
        let extended = self.needed_modules(&needed);
        let clashes: Vec<String> = extended.iter().filter_map(|module| self.name_clash(module)).collect();
        if !clashes.is_empty() {
            return Err(clashes);
        }
        // An infix operator cannot get another name: its symbol is its name.
        let infix: Vec<String> = needed
            .iter()
            .filter(|name| !is_word(name) && self.taken.contains(**name))
            .map(|name| format!("operator {name} (it has another meaning there)"))
            .collect();
        if !infix.is_empty() {
            return Err(infix);
        }
        let mut needed: Vec<&str> = needed.into_iter().collect();
        // TLA+ requires a definition before its use; the order of the source has that.
        needed.sort_by_key(|name| self.own[name].code.start);
        Ok(needed)
    }

    /// What the target lacks for a reference to a name that the generated module does not define.
    fn missing_name(&self, name: &str) -> Option<String> {
        if let Some(constant) = self.from.constants.iter().find(|c| c.name == name) {
            let there = self.constants.get(name) == Some(&constant.arity);
            return (!there).then(|| format!("constant {name}"));
        }
        if self.from.variable_names().contains(name) {
            let control =
                CONTROL_VARIABLES.contains(&name) && (self.from.algorithm.is_some() || self.to.algorithm.is_some());
            if control && !self.interface.iter().any(|variable| variable == name) {
                return Some(format!("variable {name} (the control state of its own algorithm)"));
            }
            return (!self.variables.contains(name)).then(|| format!("variable {name}"));
        }
        if KEYWORDS.contains(&name) {
            return None;
        }
        let standard = self.standard_module_of(name);
        if standard.is_none() && is_word(name) && self.from.is_self_contained() {
            // An extended module whose exports are unknown may define it.
            let unknown = self.from.extends.iter().chain(&self.from.instances).any(|m| exported_names(m).is_none());
            return (!unknown).then(|| format!("operator {name}"));
        }
        if standard.is_none() && is_word(name) {
            return Some(format!("operator {name} (of another module)"));
        }
        let redefined = standard.is_some() && self.theirs.contains_key(name);
        redefined.then(|| format!("operator {name} of the standard modules (it has another meaning there)"))
    }

    fn missing_module(&self, definition: &Definition) -> Option<String> {
        let text = definition.normalised(&self.from.source);
        let module = text.split_whitespace().skip_while(|word| *word != "INSTANCE").nth(1)?;
        exported_names(module).is_none().then(|| format!("module {module}"))
    }

    /// The standard module, extended by the generated one, that defines this name.
    fn standard_module_of(&self, name: &str) -> Option<&'a str> {
        let gives = |module: &&String| exported_names(module).is_some_and(|names| names.contains(name));
        self.from.extends.iter().chain(&self.from.instances).find(gives).map(String::as_str)
    }

    /// The modules that the target has to extend for these definitions.
    fn needed_modules(&self, needed: &BTreeSet<&str>) -> BTreeSet<&'a str> {
        let mut modules = BTreeSet::new();
        for name in needed {
            let definition = self.own[name];
            if self.is_variable_tuple(definition) {
                continue;
            }
            for refers in definition.referenced_names().iter().filter(|n| !self.own.contains_key(n.as_str())) {
                match self.standard_module_of(refers) {
                    Some(module) if !self.taken.contains(refers) => {
                        modules.insert(module);
                    }
                    None if is_word(refers)
                        && !self.is_declared_in_source(refers)
                        && !KEYWORDS.contains(&refers.as_str()) =>
                    {
                        let unknown = self.from.extends.iter().filter(|m| exported_names(m).is_none());
                        modules.extend(unknown.filter(|m| !self.to.extends.contains(m)).map(String::as_str));
                    }
                    _ => {}
                }
            }
        }
        modules
    }

    fn is_declared_in_source(&self, name: &str) -> bool {
        self.from.variable_names().contains(name) || self.from.constants.iter().any(|c| c.name == name)
    }

    /// Why the target cannot extend this module.
    fn name_clash(&self, module: &str) -> Option<String> {
        // SANY rejects a module that defines a name of a module that it extends.
        let names = exported_names(module)?;
        let own = |name: &&String| self.theirs.contains_key(name.as_str()) || self.is_declared_in_target(name);
        names.iter().find(own).map(|name| format!("module {module} (its {name} has another meaning there)"))
    }

    fn is_declared_in_target(&self, name: &str) -> bool {
        self.variables.contains(name) || self.constants.contains_key(name)
    }

    /// Inserts these properties, each of which [`Carrier::needed_definitions`] accepted, into the target. `None` if the
    /// module has no end, or if no free name of the same length exists.
    pub fn insert_properties(&self, properties: &[&str]) -> Option<ModuleWithProperties> {
        let mut needed: BTreeSet<&str> = BTreeSet::new();
        for property in properties {
            needed.extend(self.needed_definitions(property).ok()?);
        }
        let mut order: Vec<&str> = needed.iter().copied().collect();
        order.sort_by_key(|name| self.own[name].code.start);
        let extended = self.needed_modules(&needed);
        let mut taken = self.taken.clone();
        taken.extend(extended.iter().filter_map(|module| exported_names(module)).flatten());
        let mut fresh = FreshNames::new(taken, self);
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for name in &order {
            if is_word(name) && fresh.is_taken(name) {
                names.insert((*name).to_owned(), fresh.replacement_for(name)?);
            } else {
                fresh.take(name);
            }
        }
        let mut carried = String::new();
        // RECURSIVE must come before the definition.
        for declared in self.from.recursive.iter().filter(|declared| needed.contains(declared.name.as_str())) {
            let name = names.get(&declared.name).unwrap_or(&declared.name);
            let holes = vec!["_"; declared.arity].join(", ");
            let holes = if holes.is_empty() { holes } else { format!("({holes})") };
            carried.extend(["RECURSIVE ", name, &holes, "\n"]);
        }
        for name in &order {
            carried += &self.render_definition(name, &names, &mut fresh)?;
            carried.push_str("\n\n");
        }
        let called = |name: &&str| ((*name).to_owned(), names.get(*name).cloned().unwrap_or((*name).to_owned()));
        Some(ModuleWithProperties {
            text: self.insert_text(&carried, &extended)?,
            names: properties.iter().map(called).collect(),
        })
    }

    /// Renders one definition for the target.
    fn render_definition(
        &self,
        name: &str,
        names: &BTreeMap<String, String>,
        fresh: &mut FreshNames,
    ) -> Option<String> {
        let definition = self.own[name];
        let source = &self.from.source;
        if self.is_variable_tuple(definition) {
            let known = self.from.variables.iter().map(|v| v.name.as_str()).filter(|v| self.variables.contains(*v));
            let all: Vec<&str> = known
                .filter(|v| self.interface.iter().any(|name| name == v) || !matches!(*v, "pc" | "stack"))
                .collect();
            let name = names.get(name).map_or(name, String::as_str);
            return Some(format!("{name} == <<{}>>", all.join(", ")));
        }
        // Bound names must not clash with names of the target either.
        let mut replaced = names.clone();
        for bound in definition.bound_names(source) {
            // In this definition the name means the bound one, not the definition that was renamed.
            replaced.remove(&bound);
            if fresh.is_taken(&bound) {
                replaced.insert(bound.clone(), fresh.replacement_for(&bound)?);
            }
        }
        // At its original column, so that the bullets of its lists stay aligned.
        let line = source[..definition.code.start].rfind('\n').map_or(0, |at| at + 1);
        let indent = source[line..definition.code.start].chars().map(|c| if c == '\t' { c } else { ' ' });
        Some(indent.collect::<String>() + &definition.renamed(source, &replaced)?)
    }

    /// Inserts definitions before the end of the target, and modules into its EXTENDS.
    fn insert_text(&self, carried: &str, extended: &BTreeSet<&str>) -> Option<String> {
        let source = &self.to.source;
        let end = self.to.terminator.as_ref()?.start;
        let line = source[..end].rfind('\n').map_or(0, |at| at + 1);
        let end = if source[line..end].trim().is_empty() { line } else { end };
        with_extended(&format!("{}\n{carried}{}", &source[..end], &source[end..]), extended.iter().copied())
    }
}

fn is_variable_tuple_of(definition: &Definition, module: &Module) -> bool {
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

struct FreshNames {
    taken: BTreeSet<String>,
    /// Names that are bound somewhere and must not be generated.
    bound: BTreeSet<String>,
}

impl FreshNames {
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

    /// An unused name of the same length.
    fn replacement_for(&mut self, name: &str) -> Option<String> {
        const CHARACTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        // Keep the first letter. No keyword contains a digit or a lower-case letter, so the result is never a keyword.
        let length = name.len();
        let (kept, signs) = if length == 1 { ("", &CHARACTERS[10..]) } else { (&name[..1], &CHARACTERS[..36]) };
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
