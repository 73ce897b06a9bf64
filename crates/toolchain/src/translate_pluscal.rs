//! Our own PlusCal translator, with its problems as diagnostics of the stage "translate".

use tlaforge_pluscal::{Options, Translated, translate};
use tlaforge_tla::{Diagnostic, Stage};

/// Translates the algorithm in the text of a module; `None` if there is none.
pub fn translate_pluscal(text: &str, options: &Options) -> Result<Option<Translated>, Vec<Diagnostic>> {
    translate(text, options).map_err(|problems| {
        let diagnostic = |problem: tlaforge_pluscal::Diagnostic| Diagnostic {
            stage: Stage::Translate,
            line: problem.line,
            column: problem.column,
            message: problem.message,
        };
        problems.into_iter().map(diagnostic).collect()
    })
}
