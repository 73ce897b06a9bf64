---- MODULE NaturalsInduction ----
EXTENDS Integers
NatInductiveDefConclusion(f, f0, Def(_,_)) == f = [i \in Nat |-> IF i = 0 THEN f0 ELSE Def(f[i - 1], i)]
NatInductiveDefHypothesis(f, f0, Def(_,_)) == f = CHOOSE g : NatInductiveDefConclusion(g, f0, Def)
FiniteNatInductiveDefConclusion(f, c, Def(_,_), m, n) == f = [i \in m..n |-> IF i = m THEN c ELSE Def(f[i - 1], i)]
FiniteNatInductiveDefHypothesis(f, c, Def(_,_), m, n) ==
  f = CHOOSE g : FiniteNatInductiveDefConclusion(g, c, Def, m, n)
\* Only names, which proofs cite.
THEOREM NatInduction == TRUE
THEOREM DownwardNatInduction == TRUE
THEOREM GeneralNatInduction == TRUE
THEOREM SmallestNatural == TRUE
THEOREM RecursiveFcnOfNat == TRUE
THEOREM NatInductiveDef == TRUE
THEOREM RecursiveFcnOfNatType == TRUE
THEOREM NatInductiveDefType == TRUE
THEOREM RecursiveFcnOfNatUnique == TRUE
THEOREM NatInductiveUnique == TRUE
THEOREM FiniteNatInductiveDef == TRUE
THEOREM FiniteNatInductiveDefType == TRUE
THEOREM FiniteNatInductiveUnique == TRUE
====
