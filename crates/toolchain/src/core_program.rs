//! Compiles the core of a specification for `tla-mc`, which gets syntax trees, and so reads no text of the user's.
//! Source: `ast.rs`, `compile.rs` and `cli.rs` of tla-mc 0.2.2.

use std::collections::HashMap;
use std::io::Write as _;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tla_mc::ast::{Ast, Decl, Def, Module};
use tla_mc::compile::Compiler;
use tla_mc::eval::{Expr, Program, Property, Rooted};
use tla_mc::parser::{Cfg as CheckerCfg, CfgVal};
use tla_mc::varorder::{ModuleDecls, tlc_order};
use tlaforge_tla::Cfg;
use tlaforge_tla::semantic::{
    Constant, Core, ModuleOutline, OutlineSymbol, Place, elaborate_with_operators, find_type_error,
};

use super::core_arithmetic::arithmetic;
use super::core_interpreter::Interpreter;
use super::core_syntax::{STANDARD, define, stop};
use super::core_temporal::{Split, TemporalFormulas};
use super::core_writer::Writer;

/// Prefix of the text that a violated assumption stops with; its position follows.
pub(super) const ASSUMPTION_PREFIX: &str = "tlaforge assumption: ";

/// Prefix of what keeps an assumption from being evaluated.
pub(super) const EVALUATION_PREFIX: &str = "tlaforge evaluation: ";

/// Names of definitions that no module can have.
const SYMMETRY: &str = "SYMMETRY~";
const VIEW: &str = "VIEW~";

/// What a child compiles.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Source {
    /// Names and texts; the first module is the root.
    pub(super) modules: Vec<(String, String)>,
    pub(super) cfg: String,
    pub(super) deadlock: bool,
    /// What the checker could not evaluate; the engine that evaluates more, and slower, then takes its place.
    pub(super) limit: Option<String>,
    /// Operators of the root module that are kept though the specification does not use them.
    #[serde(default)]
    pub(super) operators: Vec<String>,
    /// Texts that are values beside those of the modules.
    #[serde(default)]
    pub(super) texts: Vec<String>,
}

impl Source {
    /// Compiles the specification. An error is a message for `tla-mc`'s standard error.
    pub(super) fn compile(&self) -> Result<Compiled, String> {
        let modules: Vec<(&str, &str)> =
            self.modules.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        if let Some(alias) = Cfg::parse(&self.cfg).ok().and_then(|cfg| cfg.alias) {
            remark(&format!("ALIAS {alias} ignored: traces are printed without it"));
        }
        let mut core =
            elaborate_with_operators(&modules, &self.cfg, &self.operators).map_err(|refused| refused.message)?;
        core.interned.extend(self.texts.iter().cloned());
        let root = self.modules.first().map_or("", |(name, _)| name);
        let mut writer = Writer::new(&core);
        let split = Split::new(&core, &mut writer).map_err(|(place, what)| {
            let position = self.position(&core.files, place);
            format!("{}{what} is not checked here", position.map_or(String::new(), |position| position + ": "))
        })?;
        let mixed = find_type_error(&modules, &self.cfg).unwrap_or_else(Some).map(|fault| fault.message);
        let limit = core.has_enabled_in_init().then(|| "ENABLED in the initial predicate".to_owned());
        let limit = self.limit.clone().or(limit);
        if let Some(what) = mixed.as_deref().or(limit.as_deref()) {
            if !core.properties.is_empty() || core.symmetry.is_some() || core.view.is_some() {
                return Err(what.to_owned());
            }
            core.intern_all();
        }
        if let Some(what) = &mixed {
            let what = what.split(". TLC stops").next().unwrap_or(what);
            remark(&format!(
                "{what}. TLC stops if it evaluates this; here, each comparison was checked when it was made"
            ));
        }
        let is_strict = mixed.is_some() || limit.is_some();
        let (program, temporal) = compile(&core, split, writer, root, self.deadlock, is_strict)?;
        let compiled = Compiled { program, temporal, core, is_strict };
        if let Some(interpreter) = compiled.strict_engine(self)
            && let Some(position) =
                interpreter.violated_assumption().map_err(|what| format!("{EVALUATION_PREFIX}{what}"))?
        {
            return Err(assumption_stop(position));
        }
        Ok(compiled)
    }
}

/// A specification that can be checked.
pub(super) struct Compiled {
    pub(super) program: Program,
    /// What the program does not check.
    pub(super) temporal: TemporalFormulas,
    core: Core,
    /// Whether values of different kinds may be compared, which the program would not notice.
    is_strict: bool,
}

impl Compiled {
    /// The engine that notices comparisons of values of different kinds, if that is necessary.
    pub(super) fn strict_engine<'c>(&'c self, source: &'c Source) -> Option<Interpreter<'c>> {
        self.is_strict.then(|| self.interpreter(source))
    }

    /// The names of the modules, by the number in a [`Place`].
    pub(super) fn files(&self) -> &[String] {
        &self.core.files
    }

    pub(super) fn interpreter<'c>(&'c self, source: &'c Source) -> Interpreter<'c> {
        Interpreter::new(&self.core, Box::new(|place| source.position(&self.core.files, place)))
    }
}

/// The text up to the next conjunct on its line, if it is no operand of a weaker operator.
fn first_conjunct(text: &str) -> &str {
    if ["IF", "CASE", "LET"].iter().any(|word| text.starts_with(word)) {
        return text;
    }
    let (mut depth, mut in_string) = (0_i32, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => in_string = !in_string,
            _ if in_string => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ if depth > 0 => {}
            '/' if at > 0 && text[at..].starts_with("/\\") => return text[..at].trim_end(),
            '\\' if text[at..].starts_with("\\/") || text[at..].starts_with("\\A") || text[at..].starts_with("\\E") => {
                return text;
            }
            '=' if text[at..].starts_with("=>") => return text,
            _ => {}
        }
    }
    text
}

impl Source {
    /// The source text of a condition: from its place to the next conjunct, or to the end of the line.
    pub(super) fn line_from(&self, files: &[String], place: Place) -> Option<String> {
        let module = files.get(place.file())?;
        let (_, text) = self.modules.iter().find(|(name, _)| name == module)?;
        let line = text.get(place.offset()..)?.lines().next()?;
        Some(first_conjunct(line.trim()).to_owned())
    }

    /// `line 4, column 8 of module M`, if the place is in one of the modules.
    pub(super) fn position(&self, files: &[String], place: Place) -> Option<String> {
        let module = files.get(place.file())?;
        let (_, text) = self.modules.iter().find(|(name, _)| name == module)?;
        let before = text.get(..place.offset())?;
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count() + 1;
        Some(format!("line {line}, column {column} of module {module}"))
    }
}

/// Prints a line that becomes a warning.
fn remark(text: &str) {
    // Without a reader nothing is left to report.
    let _ = writeln!(std::io::stderr(), "tla-mc: {text}");
}

/// Names that are shown to the user cannot be changed.
fn reject_standard_names(core: &Core) -> Result<(), String> {
    let constants = core.constants.iter().map(|(name, _)| name);
    let properties = core.properties.iter().map(|(name, _)| name);
    let shown =
        core.variables.iter().chain(&core.invariants).chain(&core.constraints).chain(constants).chain(properties);
    match shown.into_iter().find(|name| STANDARD.contains(&name.as_str())) {
        Some(name) => Err(format!("{name} has the name of a standard operator and another meaning")),
        None => Ok(()),
    }
}

fn compile(
    core: &Core,
    split: Split,
    mut writer: Writer,
    root: &str,
    deadlock: bool,
    is_strict: bool,
) -> Result<(Program, TemporalFormulas), String> {
    reject_standard_names(core)?;
    let mut defs: Vec<Rc<Def>> = core.definitions.iter().flat_map(|definition| writer.definition(definition)).collect();
    defs.extend(split.definitions.iter().cloned());
    let generated = [(SYMMETRY, &core.symmetry), (VIEW, &core.view)];
    defs.extend(generated.iter().filter_map(|(name, one)| Some(define(name, writer.expression(one.as_ref()?)))));
    defs.extend(arithmetic());
    let module = Module { name: root.to_owned(), variables: core.variables.clone(), defs, ..Module::default() };
    let constants = core.constants.iter().map(|(name, value)| (name.clone(), constant(value))).collect();
    let cfg = CheckerCfg { constants, check_deadlock: deadlock, ..CheckerCfg::default() };
    let mut compiler = Compiler::new(&[module], &cfg, &core.interned)?;
    let (initial, next) = match &core.behaviour {
        Some((initial, next)) => (writer.expression(initial), writer.expression(next)),
        // Without a behaviour only the assumptions are checked.
        None => (Ast::Bool(false), Ast::Bool(false)),
    };
    let initial = compiler.rooted_act("Init", &initial, true)?;
    let next = compiler.rooted_act("Next", &next, false)?;
    let (mut invariants, mut constraints) = (Vec::new(), Vec::new());
    for (names, parts) in [(&core.invariants, &mut invariants), (&core.constraints, &mut constraints)] {
        for name in names {
            if is_strict {
                parts.push(asked_in_each_state(name));
            } else {
                parts.extend(compiler.rooted_parts(name)?);
            }
        }
    }
    let symmetry = core.symmetry.as_ref().map(|_| compiler.rooted_expr(SYMMETRY)).transpose()?;
    let view = core.view.as_ref().map(|_| compiler.rooted_expr(VIEW)).transpose()?;
    let mut properties = Vec::new();
    for (name, defined) in &split.properties {
        let property = compiler.rooted_property(defined).map_err(|what| what.replace(defined.as_str(), name))?;
        properties.push(Property { name: name.clone(), ..property });
    }
    let fairness = if split.needs_fairness {
        let conjuncts: Vec<Ast> = core.fairness.iter().map(|one| writer.expression(one)).collect();
        compiler.rooted_fairness(&conjuncts)?
    } else {
        None
    };
    let temporal = split.compile(&mut compiler)?;
    let assumptions: Vec<Ast> = core
        .assumptions
        .iter()
        // The other engine evaluates them.
        .filter(|_| !is_strict)
        .map(|assumption| {
            let holds = writer.expression(&assumption.formula);
            let stop = stop(&format!("{ASSUMPTION_PREFIX}{}", assumption.position));
            Ast::If(Box::new(holds), Box::new(Ast::Bool(true)), Box::new(stop))
        })
        .collect();
    let mut program =
        compiler.finish(initial, next, invariants, constraints, &assumptions, deadlock, symmetry, view)?;
    program.properties = properties;
    program.fairness = fairness;
    if !program.symmetry.is_empty() {
        order_variables(&mut program, core, root)?;
    }
    Ok((program, temporal))
}

/// A predicate that the checker asks for once in each new state: it skips those that read no changed variable, but it does
/// not analyse what an expression with a primed variable reads. Another engine evaluates it.
pub(super) fn asked_in_each_state(name: &str) -> Rooted<Expr> {
    Rooted { name: name.to_owned(), frame: 0, body: Expr::Primed(0) }
}

/// What the checker says if an assumption at this position is false.
fn assumption_stop(position: &str) -> String {
    format!("applying a non-function \"{ASSUMPTION_PREFIX}{position}\"")
}

/// Orders the variables as TLC does: the order decides which of several symmetric states is kept.
fn order_variables(program: &mut Program, core: &Core, root: &str) -> Result<(), String> {
    let outlines: HashMap<String, ModuleDecls> =
        core.outlines.iter().map(|outline| (outline.name.clone(), declarations(outline))).collect();
    match tlc_order(root, &outlines) {
        Ok(names) => {
            let index = |name: &String| program.vars.iter().position(|variable| variable == name);
            let order: Vec<usize> = names.iter().filter_map(index).collect();
            if order.len() != program.vars.len() {
                return Err("TLC's order of the variables is not known".to_owned());
            }
            program.cmp_order = order;
        }
        // Only the number of states can differ.
        Err(why) => {
            remark(&format!(
                "TLC's order of the variables is not known ({why}), so the number of states may differ from TLC's"
            ));
        }
    }
    Ok(())
}

fn declarations(outline: &ModuleOutline) -> ModuleDecls {
    let decl = |symbol: &OutlineSymbol| match symbol.clone() {
        OutlineSymbol::Name { name, is_local, is_variable } => Decl::Sym { name, local: is_local, var: is_variable },
        OutlineSymbol::Instance { name, module, is_local } => Decl::Instance { name, module, local: is_local },
    };
    ModuleDecls { extends: outline.extends.clone(), decls: outline.symbols.iter().map(decl).collect() }
}

fn constant(value: &Constant) -> CfgVal {
    match value {
        Constant::Number(number) => CfgVal::Int(*number),
        Constant::Text(text) => CfgVal::Str(text.clone()),
        Constant::Boolean(value) => CfgVal::Bool(*value),
        Constant::ModelValue(name) => CfgVal::Model(name.clone()),
        Constant::Set(elements) => CfgVal::Set(elements.iter().map(constant).collect()),
    }
}
