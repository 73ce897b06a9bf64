---- MODULE assign_record_in_function ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Table {
  variables t = [i \in 1..2 |-> [k |-> 0, v |-> "none"]];
  {
    A: t[1].k := 1;
    B: t[2].v := "some" || t[1].v := t[2].v;
    C: t := [t EXCEPT ![1].k = 3, ![2] = t[1]];
  }
} *)
====
