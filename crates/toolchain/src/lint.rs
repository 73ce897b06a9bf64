//! What is refused before any tool runs: modules with side effects outside the model, and ways to make TLC end early
//! with a success. It works on tokens, so comments and strings are not mistaken for code.

use tlaforge_tla::semantic::MODULES_WITH_SIDE_EFFECTS;
use tlaforge_tla::{Cfg, Diagnostic, Kind, Lines, ModuleError, Stage, Token, code_tokens, find_modules, lex};

use super::SpecText;

/// Maximum length in bytes of a module with its local modules, far beyond what a specification needs.
const MAX_MODULES_BYTES: usize = 4 << 20;

/// The message if a module with its local modules exceeds the limit.
pub(super) fn too_long(spec: &SpecText) -> Option<String> {
    let length = spec.text.len() + spec.local_modules.iter().map(|(_, text)| text.len()).sum::<usize>();
    let (longest, shown) = (MAX_MODULES_BYTES >> 20, length.div_ceil(1 << 20));
    (length > MAX_MODULES_BYTES).then(|| format!("the module is {shown} MiB long; at most {longest} MiB are handled"))
}

/// Checks a module and its local modules. An empty result means that nothing is refused.
pub fn lint_spec(spec: &SpecText, allowed: &[String]) -> Vec<Diagnostic> {
    if let Some(what) = too_long(spec) {
        return vec![refused(0, 0, what)];
    }
    let mut found = Vec::new();
    let all =
        std::iter::once((&spec.name, &spec.text)).chain(spec.local_modules.iter().map(|(name, text)| (name, text)));
    if find_modules(&spec.text).is_empty() {
        // The tools give no helpful message for such a text, and one of them crashes on it.
        found.push(refused(1, 1, ModuleError::NoModule.to_string()));
    }
    let mut names: Vec<&str> = Vec::new();
    for (index, (name, text)) in all.enumerate() {
        if !is_name(name) {
            found.push(refused(0, 0, format!("`{name}` is not a module name")));
            continue;
        }
        if names.contains(&name.as_str()) {
            found.push(refused(0, 0, format!("there are two modules named `{name}`")));
        }
        names.push(name);
        if has_side_effects(name) && !is_allowed(name, allowed) {
            found.push(refused(0, 0, outside_message(name)));
        }
        // Positions refer to the main module, so those of others need its name.
        let module = (index > 0).then_some(name.as_str());
        found.extend(lint_text(text, allowed).into_iter().map(|d| match module {
            Some(module) => Diagnostic { message: format!("in module {module}: {}", d.message), ..d },
            None => d,
        }));
    }
    found
}

/// Checks a configuration: a substitution could pass `TLCSet` or its `"exit"` to a module that looks harmless. The
/// string alone is harmless unless a module sets a register whose name is not written out.
pub fn lint_cfg(cfg: &Cfg, spec: &SpecText) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let open = module_texts(spec).any(|text| {
        let tokens = code_tokens(text);
        let mut calls = (0..tokens.len()).filter(|index| sets_register(tokens[*index].text(text)));
        calls.any(|call| classify_register(text, &tokens[call + 1..]) != Register::Other)
    });
    for (name, value) in &cfg.constants {
        for token in lex(value, 0..value.len()) {
            let text = token.text(value);
            // TLC crashes on such a number while it reads the configuration.
            if token.kind == Kind::Number && text.parse::<i32>().is_err() {
                let message = format!("{text} (for `{name}`) has more than 32 bits, which TLC does not have");
                found.push(refused(0, 0, message));
            }
            if sets_register(text) || (open && is_tlc_command(text)) {
                let given = text.trim_matches('"');
                found.push(refused(0, 0, format!("the configuration gives {given} to `{name}`: {EARLY_SUCCESS}")));
            }
        }
    }
    found
}

/// Whether a name can be that of a module or operator.
pub(crate) fn is_name(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && name.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Measured: with `TLCSet("exit", TRUE)` in `Next`, TLC 2.15 and current sources exit with 0 and "No error has been found"
/// before they reach a violation.
const EARLY_SUCCESS: &str = "`TLCSet` can make TLC stop and report success";
/// A name or an expression may evaluate to a string that TLC obeys.
const UNKNOWN_REGISTER: &str =
    "; its register must be written as a number or as a string other than \"exit\" and \"pause\"";

fn module_texts(spec: &SpecText) -> impl Iterator<Item = &str> {
    std::iter::once(spec.text.as_str()).chain(spec.local_modules.iter().map(|(_, text)| text.as_str()))
}

/// The register that a call of `TLCSet` sets, as far as its text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Register {
    /// `"exit"` or `"pause"`: makes TLC stop.
    Command,
    /// A number, or another string.
    Other,
    /// Unknown: a name, an expression, or the operator passed as an argument.
    Any,
}

/// Classifies the tokens after the operator's name.
fn classify_register(text: &str, rest: &[Token]) -> Register {
    match rest {
        [open, first, comma, ..] if open.text(text) == "(" && comma.text(text) == "," => match first.kind {
            Kind::Text if is_tlc_command(first.text(text)) => Register::Command,
            Kind::Text | Kind::Number => Register::Other,
            _ => Register::Any,
        },
        _ => Register::Any,
    }
}

fn lint_text(text: &str, allowed: &[String]) -> Vec<Diagnostic> {
    let tokens = code_tokens(text);
    let lines = Lines::new(text);
    let mut found = Vec::new();
    let mut refuse = |token: &Token, message: String| {
        let (line, column) = lines.position(text, token.start);
        found.push(refused(line, column, message));
    };
    for (index, token) in tokens.iter().enumerate() {
        let rest = &tokens[index + 1..];
        let modules = match token.text(text) {
            "EXTENDS" => extended_modules(text, rest),
            "INSTANCE" => rest.get(..1).unwrap_or_default().to_vec(),
            operator if sets_register(operator) => {
                match classify_register(text, rest) {
                    Register::Command => refuse(token, EARLY_SUCCESS.to_owned()),
                    Register::Other => {}
                    Register::Any => refuse(token, format!("{EARLY_SUCCESS}{UNKNOWN_REGISTER}")),
                }
                continue;
            }
            _ => continue,
        };
        for module in modules {
            let name = module.text(text);
            if has_side_effects(name) && !is_allowed(name, allowed) {
                refuse(&module, outside_message(name));
            }
        }
    }
    found
}

/// The names between EXTENDS and the first token that is neither a name nor a comma.
fn extended_modules(text: &str, rest: &[Token]) -> Vec<Token> {
    let is_word = |token: &Token| matches!(token.kind, Kind::Word | Kind::Number);
    let fits = |(index, token): &(usize, &Token)| {
        if index % 2 == 0 { is_word(token) } else { token.text(text) == "," }
    };
    rest.iter().enumerate().take_while(fits).step_by(2).map(|(_, token)| *token).collect()
}

/// `TLCGetAndSet` of `TLCExt` passes its first argument to `TLCSet`.
fn sets_register(token: &str) -> bool {
    matches!(token, "TLCSet" | "TLCGetAndSet")
}

/// Whether a token is a string that `TLCSet` obeys. The closing quote may be missing.
fn is_tlc_command(token: &str) -> bool {
    token.strip_prefix('"').is_some_and(|string| matches!(string.trim_end_matches('"'), "exit" | "pause"))
}

/// Modules with a leading underscore belong to the tools (`_TLCTrace` and `_JsonTrace` write files). Measured of the
/// others: with the community modules on the class path `IOExec` of `IOUtils` executes a program, and `JsonSerialize` writes
/// a file with a current TLC alone.
fn has_side_effects(module: &str) -> bool {
    module.starts_with('_') || MODULES_WITH_SIDE_EFFECTS.contains(&module)
}

fn is_allowed(module: &str, allowed: &[String]) -> bool {
    allowed.iter().any(|a| a == module)
}

fn outside_message(module: &str) -> String {
    format!(
        "module `{module}` can reach outside the model (files, programs, environment); it is refused unless allowed by \
         name: --allow-module {module}, with {module}.tla beside the specification, or in a \
         --library"
    )
}

fn refused(line: usize, column: usize, message: String) -> Diagnostic {
    Diagnostic { stage: Stage::Lint, line, column, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lint(body: &str) -> Vec<Diagnostic> {
        let text = format!("---- MODULE M ----\n{body}\n====\n");
        lint_spec(&SpecText { name: "M".to_owned(), text, local_modules: Vec::new() }, &["CSV".to_owned()])
    }

    #[test]
    fn modules_with_side_effects_are_refused_at_their_position() {
        for body in [
            "EXTENDS Naturals,\n   IOUtils",
            "EXTENDS Naturals\n\n  INSTANCE Json",
            "J == INSTANCE (* c *) GraphViz WITH a <- b",
            "LOCAL INSTANCE _TLCTrace",
            "(* --algorithm A { define { J == INSTANCE Json } { skip } } *)",
        ] {
            assert_eq!(lint(body).len(), 1, "{body}");
        }
        let found = &lint("EXTENDS Naturals,\n   IOUtils")[0];
        assert_eq!((found.stage, found.line, found.column), (Stage::Lint, 3, 4));
        assert!(found.message.contains("--allow-module IOUtils"), "{}", found.message);
    }

    #[test]
    fn prose_before_the_module_hides_nothing() {
        let text = "see\n----\nMODULE (* and so on\n---- MODULE M ----\nEXTENDS IOUtils\n====\n".to_owned();
        let found = lint_spec(&SpecText { name: "M".to_owned(), text, local_modules: Vec::new() }, &[]);
        assert_eq!(found.iter().map(|d| (d.line, d.column)).collect::<Vec<_>>(), [(5, 9)]);
    }

    #[test]
    fn names_in_comments_and_strings_and_allowed_modules_pass() {
        for body in [
            "(* INSTANCE Json *)",
            "x == \"INSTANCE Json\"",
            "\\* EXTENDS IOUtils",
            "EXTENDS CSV",
            "EXTENDS Naturals\nJson == 1",
            "x == TLCSet(1, \"exit\")",
            "x == TLCSet(17, 3) /\\ TLCSet(\"best\", n)",
            "\\* TLCSet(\"exit\", TRUE)",
            "x == \"exit\"",
        ] {
            assert_eq!(lint(body), [], "{body}");
        }
    }

    #[test]
    fn a_way_to_stop_the_checker_is_refused() {
        for body in [
            "Next == TLCSet(\"exit\", TRUE)",
            "Next == TLCSet (* c *) (\n \"exit\" , TRUE)",
            "Set(a, b) == TLCSet(a, b)\nNext == Set(\"exit\", TRUE)",
            "(* --algorithm A { { print TLCSet(\"exit\", TRUE); } } *)",
            "T == INSTANCE TLC\nNext == T!TLCSet(\"pause\", TRUE)",
            "Next == TLCSet(IF x THEN \"exit\" ELSE 1, TRUE)",
            "Next == TLCSet(\"ex\" \\o \"it\", TRUE)",
            "Next == TLCGetAndSet(\"exit\", Or, TRUE, FALSE)",
            // The text does not show that it is no string, however likely that is.
            "x == \\A i \\in 1..3 : TLCSet(i, 0)",
            "Set(a) == TLCSet(a, 1)",
            "x == F(TLCSet, 1)",
            // Without a blank after the operator before it, as SANY allows.
            "x == {} \\TLCSet(\"exit\", TRUE)",
            "x == <<>> \\oTLCSet(\"exit\", TRUE)",
            "\\* a lone carriage return ends a comment\rx == TLCSet(\"exit\", TRUE)",
            "x == [][Next]_TLCSet(\"exit\", TRUE)",
        ] {
            assert_eq!(lint(body).len(), 1, "{body}");
        }
    }

    #[test]
    fn strings_that_stop_the_checker_are_refused_only_if_a_module_can_pass_them_on() {
        let spec = |text: &str, local_modules: &str| SpecText {
            name: "M".to_owned(),
            text: format!("---- MODULE M ----\nEXTENDS TLC\n{text}\n====\n"),
            local_modules: vec![("Other".to_owned(), format!("---- MODULE Other ----\n{local_modules}\n====\n"))],
        };
        let cfg = |value: &str| {
            let mut cfg = Cfg::default();
            cfg.constants.insert("C".to_owned(), value.to_owned());
            cfg
        };
        // A constant that is a state of the protocol.
        for text in ["x == C", "x == TLCSet(1, C)", "x == TLCSet(\"best\", C)", "x == TLCGet(C)", "\\* TLCSet(C, TRUE)"]
        {
            assert_eq!(lint_cfg(&cfg("\"exit\""), &spec(text, "")), [], "{text}");
        }
        assert_eq!(lint_spec(&spec("x == \"exit\" /\\ TLCSet(1, \"pause\")", "y == \"exit\""), &[]), []);
        for (text, local_modules) in
            [("x == TLCSet(C, TRUE)", ""), ("x == F(TLCSet, C)", ""), ("x == 1", "Set(a) == TLCSet(a, 1)")]
        {
            assert_eq!(lint_cfg(&cfg("\"exit\""), &spec(text, local_modules)).len(), 1, "{text} {local_modules}");
            assert_eq!(lint_cfg(&cfg("{1, \"pause\"}"), &spec(text, local_modules)).len(), 1, "{text} {local_modules}");
            assert_eq!(lint_cfg(&cfg("\"done\""), &spec(text, local_modules)), [], "{text} {local_modules}");
        }
        assert_eq!(lint_cfg(&cfg("<- TLCSet"), &spec("x == 1", "")).len(), 1);
        // The string is in one module, the operator in another.
        assert_eq!(lint_spec(&spec("x == Set(\"exit\")", "Set(a) == TLCSet(a, 1)"), &[]).len(), 1);
        let message = &lint_spec(&spec("x == 1", "Set(a) == TLCSet(a, 1)"), &[])[0].message;
        assert!(message.contains("written as a number"), "{message}");
    }

    #[test]
    fn a_text_without_a_module_is_refused() {
        for text in ["", "EXTENDS Naturals\nx == 1\n====\n", "\\* MODULE M\n"] {
            let spec = SpecText { name: "M".to_owned(), text: text.to_owned(), local_modules: Vec::new() };
            let found = lint_spec(&spec, &[]);
            assert_eq!((found.len(), found[0].line), (1, 1), "{text}");
            assert!(found[0].message.starts_with("no module"), "{found:?}");
        }
    }

    #[test]
    fn module_names_are_names() {
        for name in ["../M", "a/b", "", "M.tla", "1"] {
            let spec = SpecText {
                name: name.to_owned(),
                text: "---- MODULE M ----\n====".to_owned(),
                local_modules: Vec::new(),
            };
            assert_eq!(lint_spec(&spec, &[]).len(), 1, "{name}");
        }
        let local_modules = vec![("Json".to_owned(), "---- MODULE Json ----\n====".to_owned())];
        let spec = SpecText { name: "M".to_owned(), text: "---- MODULE M ----\n====".to_owned(), local_modules };
        assert_eq!(lint_spec(&spec, &[]).len(), 1);
    }
}
