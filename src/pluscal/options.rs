//! The options of a translation, from the command line and from the module's own `PlusCal options` line.

/// Whose translation is followed where today's translator and that of 2020 differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compat {
    /// Today's (1.11 and later).
    #[default]
    Today,
    /// That in the jar of 2020 (1.9).
    Y2020,
}

/// The fairness that `-wf`, `-sf`, `-wfNext` or `-nof` ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fair {
    /// `-wf`: weak fairness of every process's next-state action.
    Weak,
    /// `-sf`: strong.
    Strong,
    /// `-wfNext`: weak fairness of the whole next-state action.
    Next,
    /// `-nof`: none, whatever the algorithm says.
    None,
}

/// What can be chosen of a translation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Whose translation is followed.
    pub compat: Compat,
    /// `-wf`, `-sf`, `-wfNext`, `-nof`.
    pub fair: Option<Fair>,
    /// `-termination`: asks for the cfg entry only; the module always defines `Termination` where it makes sense.
    pub termination: bool,
    /// `-noDoneDisjunct`: no disjunct that lets a finished algorithm stutter.
    pub no_done_disjunct: bool,
    /// `-label`: add missing labels (also where the algorithm has labels of its own).
    pub label: bool,
    /// `-lineWidth`: from which column lines are broken.
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
