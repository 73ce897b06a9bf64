---- MODULE await_disjunction ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm WaitLong
variables x = 0, y = 0;
begin
  A: await \/ x = 0
           \/ /\ y = 1
              /\ x # 2;
     x := 1;
  B: await x = 1 \/ y = 1;
     y := 1;
  C: await \A i \in {1, 2} : i > x;
end algorithm; *)
====
