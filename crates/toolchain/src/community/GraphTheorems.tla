---- MODULE GraphTheorems ----
EXTENDS Graphs, Sequences
\* Only names, which proofs cite.
THEOREM TransposeIsDirectedGraph == TRUE
THEOREM TransposeTranspose == TRUE
THEOREM PathTranspose == TRUE
THEOREM TransposePath == TRUE
THEOREM SimplePathTranspose == TRUE
THEOREM TransposeSimplePath == TRUE
THEOREM AreConnectedInTranspose == TRUE
THEOREM TransposeAreConnectedIn == TRUE
THEOREM IsStronglyConnectedTranspose == TRUE
THEOREM TransposeIsStronglyConnected == TRUE
THEOREM PathConcatenation == TRUE
THEOREM SubPath == TRUE
THEOREM ExistsPathIffExistsSimplePath == TRUE
THEOREM ConnectedReflexive == TRUE
THEOREM ConnectedTransitive == TRUE
THEOREM TreeAcyclic == TRUE
THEOREM TreeIrreflexive == TRUE
THEOREM TreeSimplePath == TRUE
THEOREM TreeConnectedAntisymmetric == TRUE
THEOREM SingletonIsTreeWithRoot == TRUE
THEOREM AttachTree == TRUE
THEOREM AddLeafToTree == TRUE
THEOREM RemoveSubtree == TRUE
THEOREM RemoveLeafFromTree == TRUE
THEOREM SingletonIsTransposedTreeWithRoot == TRUE
THEOREM AttachTransposedTree == TRUE
THEOREM AddLeafToTransposedTree == TRUE
THEOREM RemoveTransposedSubtree == TRUE
THEOREM RemoveLeafFromTransposedTree == TRUE
====
