---- MODULE TLAPS ----
SMT == TRUE
CVC3 == TRUE
CVC4 == TRUE
Yices == TRUE
veriT == TRUE
Z3 == TRUE
Spass == TRUE
SimpleArithmetic == TRUE
LS4 == TRUE
PTL == TRUE
PropositionalTemporalLogic == TRUE
Zenon == TRUE
SlowZenon == TRUE
SlowerZenon == TRUE
VerySlowZenon == TRUE
SlowestZenon == TRUE
Isa == TRUE
Auto == TRUE
Force == TRUE
Blast == TRUE
SimplifyAndSolve == TRUE
Simplification == TRUE
AutoBlast == TRUE
AllProvers == TRUE
AllSMT == TRUE
AllIsa == TRUE
IsaWithSetExtensionality == TRUE
ExpandENABLED == TRUE
ExpandCdot == TRUE
AutoUSE == TRUE
Lambdify == TRUE
ENABLEDaxioms == TRUE
ENABLEDrewrites == TRUE
ENABLEDrules == TRUE
LevelComparison == TRUE
SMTT(X) == TRUE
CVC3T(X) == TRUE
CVC4T(X) == TRUE
YicesT(X) == TRUE
veriTT(X) == TRUE
Z3T(X) == TRUE
SpassT(X) == TRUE
ZenonT(X) == TRUE
IsaT(X) == TRUE
IsaM(X) == TRUE
AllProversT(X) == TRUE
AllSMTT(X) == TRUE
AllIsaT(X) == TRUE
ASMT(X) == TRUE
IsaMT(X, Y) == TRUE
THEOREM SetExtensionality == \A S, T : (\A x : x \in S <=> x \in T) => S = T
THEOREM NoSetContainsEverything == \A S : \E x : x \notin S
====
