---- MODULE assign_record_field ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Record
variables r = [name |-> "a", deep |-> [n |-> 0, f |-> <<1, 2>>]];
begin
  A: r.name := "b";
  B: r.deep.n := r.deep.n + 1;
  C: r.deep.f[2] := 7;
end algorithm; *)
====
