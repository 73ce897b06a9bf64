//! Modules of the community that specifications use often, with definitions of our own: they need no download. A module
//! of the same name beside the specification or in a library comes first.
//! Source of names and meanings: the documentation of tlaplus/CommunityModules, and of the library of TLAPS, whose
//! operators only guide proofs.

/// Names and texts.
const MODULES: &[(&str, &str)] = &[
    ("BagsExt", include_str!("community/BagsExt.tla")),
    ("Bitwise", include_str!("community/Bitwise.tla")),
    ("Combinatorics", include_str!("community/Combinatorics.tla")),
    ("DyadicRationals", include_str!("community/DyadicRationals.tla")),
    ("FiniteSetsExt", include_str!("community/FiniteSetsExt.tla")),
    ("Folds", include_str!("community/Folds.tla")),
    ("Functions", include_str!("community/Functions.tla")),
    ("Graphs", include_str!("community/Graphs.tla")),
    ("Relation", include_str!("community/Relation.tla")),
    ("SequencesExt", include_str!("community/SequencesExt.tla")),
    ("TLAPS", include_str!("community/TLAPS.tla")),
    ("UndirectedGraphs", include_str!("community/UndirectedGraphs.tla")),
];

/// The text of a module, if we have it.
pub(super) fn find(name: &str) -> Option<&'static str> {
    MODULES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Whether a text has the name of one of the modules, and so may need it.
pub(super) fn is_mentioned(text: &str) -> bool {
    MODULES.iter().any(|(name, _)| text.contains(name))
}
