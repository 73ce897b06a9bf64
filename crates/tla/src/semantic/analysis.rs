//! The analysis of one module together with everything that it extends and instantiates.

use std::collections::HashMap;

use crate::{Diagnostic, Stage};

use super::graph::{Finding, Graph, ModuleId, Place, Severity};
use super::parser::{Fault, FaultKind, parse};
use super::resolver::resolve;
use super::standard;
use super::tree::{Expr, Form, Module, Name, Proof, StepBody, Unit};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Why the module is not TLA+.
    pub errors: Vec<Diagnostic>,
    /// Constructs that these checks do not support. Without errors, the module is then neither accepted nor rejected.
    pub not_analysed: Vec<Diagnostic>,
    /// Legal constructs that are probably mistakes.
    pub warnings: Vec<Diagnostic>,
}

impl Analysis {
    /// Whether there are no errors and everything was analysed.
    pub fn is_accepted(&self) -> bool {
        self.errors.is_empty() && self.not_analysed.is_empty()
    }

    pub fn is_rejected(&self) -> bool {
        !self.errors.is_empty()
    }
}

pub(super) struct Loaded {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) tree: Module,
    pub(super) standard: bool,
}

/// A module with everything that it extends and instantiates, and all names resolved.
pub(super) struct Resolved {
    /// By file number.
    pub(super) modules: Vec<Loaded>,
    pub(super) graph: Graph,
    /// The analysed module.
    pub(super) root: ModuleId,
}

struct Loader<'a> {
    local_modules: &'a [(String, String)],
    /// In an order in which they can be resolved: each module after those that it needs.
    modules: Vec<Loaded>,
    open: Vec<String>,
    errors: Vec<(Diagnostic, Severity)>,
}

/// Checks the module `name` with this text. It may extend or instantiate `local_modules`, given by name and text, and
/// the standard modules. Errors in other modules are reported with the module's name.
pub fn analyze(name: &str, text: &str, local_modules: &[(String, String)]) -> Analysis {
    let mut loader = Loader { local_modules, modules: Vec::new(), open: Vec::new(), errors: Vec::new() };
    loader.load(name, text, false);
    let mut findings: Vec<(Diagnostic, Severity)> = loader.errors;
    if findings.is_empty() {
        findings = check(resolve_all(loader.modules), name);
    }
    let mut analysis = Analysis::default();
    for (diagnostic, severity) in findings {
        match severity {
            Severity::Error => analysis.errors.push(diagnostic),
            Severity::NotAnalysed => analysis.not_analysed.push(diagnostic),
            Severity::Warning => analysis.warnings.push(diagnostic),
        }
    }
    analysis
}

/// Resolves every name of the module `name`; arguments as in [`analyze`].
///
/// # Errors
/// The first reason why the module is rejected or not analysed.
pub(super) fn resolved(name: &str, text: &str, local_modules: &[(String, String)]) -> Result<Resolved, String> {
    let mut loader = Loader { local_modules, modules: Vec::new(), open: Vec::new(), errors: Vec::new() };
    loader.load(name, text, false);
    if let Some((error, _)) = loader.errors.first() {
        return Err(error.message.clone());
    }
    let resolved = resolve_all(loader.modules);
    match resolved.graph.findings.iter().find(|finding| finding.severity != Severity::Warning) {
        Some(finding) => Err(finding.message.clone()),
        None => Ok(resolved),
    }
}

/// Resolves the names of all modules and checks their levels; the last module is the root.
fn resolve_all(modules: Vec<Loaded>) -> Resolved {
    let mut graph = Graph::default();
    let mut known: HashMap<String, ModuleId> = HashMap::new();
    let (mut own, mut root) = (Vec::new(), 0);
    for (file, module) in (0_u32..).zip(&modules) {
        root = resolve(&mut graph, &known, file, &module.tree);
        known.insert(module.name.clone(), root);
        if !module.standard {
            own.push(root);
        }
    }
    if !graph.findings.iter().any(|finding| finding.severity != Severity::Warning) {
        // After an error some nodes are placeholders, whose levels mean nothing.
        super::level_module::check(&mut graph, &own);
    }
    Resolved { modules, graph, root }
}

fn check(resolved: Resolved, root: &str) -> Vec<(Diagnostic, Severity)> {
    let Resolved { modules, mut graph, .. } = resolved;
    let mut findings = std::mem::take(&mut graph.findings);
    findings.sort_by_key(|finding| finding.place);
    findings.iter().map(|finding| (finding_diagnostic(finding, &modules, root), finding.severity)).collect()
}

fn finding_diagnostic(finding: &Finding, modules: &[Loaded], root: &str) -> Diagnostic {
    let Place { file, offset } = finding.place;
    match modules.get(file as usize) {
        Some(module) => diagnostic(module, root, offset as usize, &finding.message),
        None => Diagnostic { stage: Stage::Analysis, line: 0, column: 0, message: finding.message.clone() },
    }
}

fn diagnostic(module: &Loaded, root: &str, offset: usize, message: &str) -> Diagnostic {
    located(&module.text, (module.name != root).then_some(module.name.as_str()), offset, message)
}

/// A diagnostic at this byte of the text; `module_name` if it is not that of the analysed module.
fn located(text: &str, module_name: Option<&str>, offset: usize, message: &str) -> Diagnostic {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let message = match module_name {
        Some(module) => format!("module {module}: {message}"),
        None => message.to_owned(),
    };
    Diagnostic {
        stage: Stage::Analysis,
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
        message,
    }
}

impl Loader<'_> {
    fn error(&mut self, diagnostic: Diagnostic) {
        self.errors.push((diagnostic, Severity::Error));
    }

    fn load(&mut self, name: &str, text: &str, standard: bool) {
        // The analysed module is loaded first; messages name only the others.
        let module_name = self.open.first().map(|_| name);
        let tree = match parse(text) {
            Ok(tree) => tree,
            Err(Fault { offset, message, kind }) => {
                let severity = if kind == FaultKind::Wrong { Severity::Error } else { Severity::NotAnalysed };
                return self.errors.push((located(text, module_name, offset, &message), severity));
            }
        };
        if tree.name.text != name {
            let message =
                format!("the module is named {} and its file {name}.tla: they must be the same", tree.name.text);
            return self.error(located(text, module_name, tree.name.offset, &message));
        }
        let mut needed = Vec::new();
        modules_needed(&tree, &mut Vec::new(), &mut needed);
        self.open.push(name.to_owned());
        for Name { text: other, offset } in needed {
            if self.modules.iter().any(|module| module.name == other) {
                continue;
            }
            if self.open.contains(&other) {
                let message = format!("module {other} needs itself: {} → {other}", self.open.join(" → "));
                self.error(located(text, module_name, offset, &message));
                continue;
            }
            // A module of the caller takes precedence over a standard module of the same name.
            let found = self.local_modules.iter().find(|(module, _)| *module == other).map(|(_, text)| text.as_str());
            match found.or_else(|| standard::text(&other)) {
                Some(other_text) => self.load(&other, other_text, found.is_none()),
                None if self.is_inner(&tree, &other) => {}
                None => {
                    let advice = match standard::publisher(&other) {
                        Some(publisher) => {
                            format!(": it is one of {publisher}; name their folder or jar with --library")
                        }
                        None => {
                            ": put it in the folder of this module, or name its folder or jar with --library".to_owned()
                        }
                    };
                    self.error(located(text, module_name, offset, &format!("module {other} is not found{advice}")));
                }
            }
        }
        self.open.pop();
        self.modules.push(Loaded { name: name.to_owned(), text: text.to_owned(), tree, standard });
    }

    /// Whether one of the extended modules contains an inner module of this name.
    fn is_inner(&self, tree: &Module, name: &str) -> bool {
        let extended = |module: &Loaded| tree.extends.iter().any(|extended| extended.text == module.name);
        self.modules.iter().filter(|module| extended(module)).any(|module| {
            let inner = |unit: &Unit| matches!(unit, Unit::Module(inner) if inner.name.text == name);
            module.tree.units.iter().any(inner) || self.is_inner(&module.tree, name)
        })
    }
}

/// The modules that a module needs and does not contain, in the order of the text.
fn modules_needed(module: &Module, inner: &mut Vec<String>, needed: &mut Vec<Name>) {
    let open = inner.len();
    for extended in &module.extends {
        need(extended, inner, needed);
    }
    for unit in &module.units {
        modules_of_unit(unit, inner, needed);
    }
    inner.truncate(open);
    inner.push(module.name.text.clone());
}

fn need(name: &Name, inner: &[String], needed: &mut Vec<Name>) {
    if !inner.contains(&name.text) && !needed.iter().any(|known| known.text == name.text) {
        needed.push(name.clone());
    }
}

fn modules_of_unit(unit: &Unit, inner: &mut Vec<String>, needed: &mut Vec<Name>) {
    match unit {
        Unit::Module(module) => modules_needed(module, inner, needed),
        Unit::Instance(instance, _) => {
            need(&instance.module, inner, needed);
            instance.substitutions.iter().for_each(|(_, value)| modules_of_expression(value, needed));
        }
        Unit::NamedInstance(named) => {
            need(&named.instance.module, inner, needed);
            named.instance.substitutions.iter().for_each(|(_, value)| modules_of_expression(value, needed));
        }
        Unit::Operator(definition) => modules_of_expression(&definition.body, needed),
        Unit::Function(definition) => {
            definition.bounds.iter().for_each(|bound| modules_of_expression(&bound.set, needed));
            modules_of_expression(&definition.body, needed);
        }
        Unit::Assumption(_, formula, _) => modules_of_expression(formula, needed),
        Unit::Theorem(theorem) => {
            if let Some(proof) = &theorem.proof {
                modules_of_proof(proof, inner, needed);
            }
        }
        Unit::Variables(..) | Unit::Constants(..) | Unit::Recursive(_) | Unit::Use(_) => {}
    }
}

fn modules_of_proof(proof: &Proof, inner: &mut Vec<String>, needed: &mut Vec<Name>) {
    let Proof::Steps(steps) = proof else { return };
    for step in steps {
        match &step.body {
            StepBody::Instance(instance) => need(&instance.module, inner, needed),
            StepBody::Define(units) => units.iter().for_each(|unit| modules_of_unit(unit, inner, needed)),
            _ => {}
        }
        if let Some(proof) = &step.proof {
            modules_of_proof(proof, inner, needed);
        }
    }
}

/// Instances inside LET. SANY searches their modules only in files, not among those around the LET.
fn modules_of_expression(expression: &Expr, needed: &mut Vec<Name>) {
    if let Form::Let(units, _) = &expression.form {
        for unit in units {
            modules_of_unit(unit, &mut Vec::new(), needed);
        }
    }
    super::tree::for_each_part(expression, &mut |part| modules_of_expression(part, needed));
}
