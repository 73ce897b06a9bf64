---- MODULE WellFoundedInduction ----
EXTENDS NaturalsInduction
IsTransitivelyClosedOn(R, S) == \A a, b, c \in S : <<a, b>> \in R /\ <<b, c>> \in R => <<a, c>> \in R
IsWellFoundedOn(R, S) == ~\E f \in [Nat -> S] : \A n \in Nat : <<f[n + 1], f[n]>> \in R
SetLessThan(a, R, S) == {b \in S : <<b, a>> \in R}
WFDefOn(R, S, Def(_,_)) ==
  \A g, h : \A a \in S : (\A b \in SetLessThan(a, R, S) : g[b] = h[b]) => Def(g, a) = Def(h, a)
WFInductiveDefines(f, S, Def(_,_)) == f = [a \in S |-> Def(f, a)]
OpDefinesFcn(f, S, Def(_,_)) == f = CHOOSE g : WFInductiveDefines(g, S, Def)
WFInductiveUnique(S, Def(_,_)) ==
  \A g, h : WFInductiveDefines(g, S, Def) /\ WFInductiveDefines(h, S, Def) => g = h
TransitiveClosureOn(R, S) ==
  {p \in S \X S : \A T \in SUBSET (S \X S) :
                    (R \cap (S \X S)) \subseteq T /\ IsTransitivelyClosedOn(T, S) => p \in T}
OpToRel(_\prec_, S) == {p \in S \X S : p[1] \prec p[2]}
PreImage(f(_), S, R) == {p \in S \X S : <<f(p[1]), f(p[2])>> \in R}
LexPairOrdering(R1, R2, S1, S2) ==
  {p \in (S1 \X S2) \X (S1 \X S2) :
    <<p[1][1], p[2][1]>> \in R1 \/ (p[1][1] = p[2][1] /\ <<p[1][2], p[2][2]>> \in R2)}
LexProductOrdering(R, S, n) ==
  {p \in [1..n -> S] \X [1..n -> S] :
    \E i \in 1..n : <<p[1][i], p[2][i]>> \in R /\ \A j \in 1..(i - 1) : p[1][j] = p[2][j]}
\* Only names, which proofs cite.
THEOREM EmptyIsWellFounded == TRUE
THEOREM IsWellFoundedOnSubset == TRUE
THEOREM IsWellFoundedOnSubrelation == TRUE
THEOREM WFMin == TRUE
THEOREM MinWF == TRUE
THEOREM WellFoundedIsIrreflexive == TRUE
THEOREM WellFoundedIsAsymmetric == TRUE
THEOREM WFSetLessThanIrreflexive == TRUE
THEOREM SetLessTransitive == TRUE
THEOREM WFInduction == TRUE
THEOREM WFDefOnUnique == TRUE
THEOREM WFInductiveDefLemma == TRUE
THEOREM TransitiveClosureThm == TRUE
THEOREM TransitiveClosureMinimal == TRUE
THEOREM TCTCTC == TRUE
THEOREM TCRTC == TRUE
THEOREM RTCTC == TRUE
THEOREM TransitiveClosureChopLast == TRUE
THEOREM TransitiveClosureWF == TRUE
THEOREM WFInductiveDef == TRUE
THEOREM WFInductiveDefType == TRUE
THEOREM NatLessThanWellFounded == TRUE
THEOREM PreImageWellFounded == TRUE
THEOREM WFLexPairOrdering == TRUE
THEOREM WFLexProductOrdering == TRUE
====
