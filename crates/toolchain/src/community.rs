//! Modules of the community that specifications use often, with definitions of our own: they need no download. A module
//! of the same name beside the specification or in a library comes first.
//! Source of names and meanings: the documentation of tlaplus/CommunityModules, and of the library of TLAPS, whose
//! operators only guide proofs. No checker reads a proof, so theorems have only the name that proofs cite.

/// Names and texts.
const MODULES: &[(&str, &str)] = &[
    ("BagsExt", include_str!("community/BagsExt.tla")),
    ("BagsTheorems", include_str!("community/BagsTheorems.tla")),
    ("Bitwise", include_str!("community/Bitwise.tla")),
    ("Combinatorics", include_str!("community/Combinatorics.tla")),
    ("DyadicRationals", include_str!("community/DyadicRationals.tla")),
    ("FiniteSetTheorems", include_str!("community/FiniteSetTheorems.tla")),
    ("FiniteSetsExt", include_str!("community/FiniteSetsExt.tla")),
    ("FiniteSetsExtTheorems", include_str!("community/FiniteSetsExtTheorems.tla")),
    ("Folds", include_str!("community/Folds.tla")),
    ("FoldsTheorems", include_str!("community/FoldsTheorems.tla")),
    ("FunctionTheorems", include_str!("community/FunctionTheorems.tla")),
    ("Functions", include_str!("community/Functions.tla")),
    ("GraphTheorems", include_str!("community/GraphTheorems.tla")),
    ("Graphs", include_str!("community/Graphs.tla")),
    ("NaturalsInduction", include_str!("community/NaturalsInduction.tla")),
    ("Relation", include_str!("community/Relation.tla")),
    ("SequenceTheorems", include_str!("community/SequenceTheorems.tla")),
    ("SequencesExt", include_str!("community/SequencesExt.tla")),
    ("SequencesExtTheorems", include_str!("community/SequencesExtTheorems.tla")),
    ("TLAPS", include_str!("community/TLAPS.tla")),
    ("UndirectedGraphs", include_str!("community/UndirectedGraphs.tla")),
    ("WellFoundedInduction", include_str!("community/WellFoundedInduction.tla")),
];

/// The text of a module, if we have it.
pub(super) fn find(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Whether a text has the name of one of the modules, and so may need it.
pub(super) fn is_mentioned(text: &str) -> bool {
    MODULES.iter().any(|(name, _)| text.contains(name))
}
