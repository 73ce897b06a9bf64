//! The options of a translation. They have the names and meanings of the options of `pcal.trans`, which the PlusCal manual
//! describes.

/// Which version of the reference translator to imitate where versions differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compat {
    /// The current translator, PlusCal version 1.11 and later.
    #[default]
    Today,
    /// The translator in `tla2tools.jar` of 2020, PlusCal version 1.9.
    Y2020,
}

/// The fairness that the translation adds to `Spec`. A fairness keyword of the algorithm (`fair process`) takes
/// precedence for its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fair {
    /// `-wf`: weak fairness of the next-state action of every process.
    Weak,
    /// `-sf`: strong fairness of the next-state action of every process.
    Strong,
    /// `-wfNext`: weak fairness of the whole next-state action.
    Next,
    /// `-nof`: no fairness, whatever the algorithm says.
    None,
}

/// Options of a translation. A `PlusCal options (…)` line in the module takes precedence over them.
///
/// # Examples
/// ```
/// use tlaforge_pluscal::{Compat, Fair, Options, translate};
///
/// let module = r#"---- MODULE Clock ----
/// EXTENDS Naturals
/// (* --algorithm Clock
/// variable hour = 0;
/// begin
/// tick: hour := (hour + 1) % 12;
/// end algorithm; *)
/// ====
/// "#;
/// let fair = Options { fair: Some(Fair::Weak), ..Options::default() };
/// let translated = translate(module, &fair).unwrap().unwrap();
/// assert!(translated.text.contains("/\\ WF_vars(Next)"));
///
/// // Without the step in which a finished algorithm stutters, TLC reports its end as a deadlock.
/// let ends = Options { no_done_disjunct: true, ..Options::default() };
/// assert!(!translate(module, &ends).unwrap().unwrap().text.contains("Terminating"));
///
/// // The translator of 2020 declares `pc` last.
/// let old = Options { compat: Compat::Y2020, ..Options::default() };
/// assert!(translate(module, &old).unwrap().unwrap().text.contains("VARIABLES hour, pc"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Which version of the reference translator to imitate.
    pub compat: Compat,
    /// `-wf`, `-sf`, `-wfNext` or `-nof`; `None` leaves fairness to the algorithm.
    pub fair: Option<Fair>,
    /// `-termination`: implies weak fairness if no other fairness is chosen. The translation defines `Termination`
    /// regardless, unless the algorithm has no `pc` or never ends.
    pub termination: bool,
    /// `-noDoneDisjunct`: leave out the disjunct `Terminating` that lets a finished algorithm stutter.
    pub no_done_disjunct: bool,
    /// `-label`: add missing labels even if the algorithm has labels of its own.
    pub label: bool,
    /// `-lineWidth`: the column at which lines are broken; 78 by default. The options line of a module accepts numbers from
    /// 60 on; this field is not checked.
    pub line_width: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            compat: Compat::Today,
            fair: None,
            termination: false,
            no_done_disjunct: false,
            label: false,
            line_width: 78,
        }
    }
}
