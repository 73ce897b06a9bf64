---- MODULE quantifiers_and_sets ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Sets
variables s = {1, 2, 3}, f = [a \in {1, 2}, b \in {1} |-> a + b];
begin
  A: s := {e \in s : \E k \in s : k > e};
  B: s := {e + 1 : e \in s} \cup UNION {{1}, {2}};
  C: s := CHOOSE t \in SUBSET s : Cardinality(t) = 1;
  D: await \A a \in s, b \in s : a = b \/ a # b;
     s := DOMAIN f;
end algorithm; *)
====
