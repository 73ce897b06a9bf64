---- MODULE boolean_operators ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Logic
variables p \in BOOLEAN, q = TRUE;
begin
  A: p := ~q;
  B: q := p => q;
  C: p := (p <=> q) /\ ~(p \/ q);
  D: q := p # q;
  E: p := p /= q \/ q \equiv p;
end algorithm; *)
====
