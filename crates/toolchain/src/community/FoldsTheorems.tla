---- MODULE FoldsTheorems ----
EXTENDS Folds, FiniteSets
\* Only names, which proofs cite.
THEOREM MapThenFoldSetDef == TRUE
THEOREM MapThenFoldSetEmpty == TRUE
THEOREM MapThenFoldSetNonempty == TRUE
THEOREM MapThenFoldSetBijection == TRUE
THEOREM MapThenFoldSetEqual == TRUE
THEOREM MapThenFoldSetType == TRUE
THEOREM MapThenFoldSetAC == TRUE
THEOREM MapThenFoldSetACAddElement == TRUE
THEOREM MapThenFoldSetDisjointUnion == TRUE
====
