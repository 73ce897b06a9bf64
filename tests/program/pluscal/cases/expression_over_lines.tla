---- MODULE expression_over_lines ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Long
variables x = 0,
          f = [i \in 1..3 |->
                 IF i = 1
                   THEN 0
                   ELSE i];
begin
  A: x := IF /\ x = 0
             /\ f[1] = 0
            THEN LET a == 1
                     b == 2
                 IN  a + b
            ELSE CASE x = 1 -> 2
                   [] x = 2 -> 3
                   [] OTHER -> 4;
  B: f := [i \in DOMAIN f |->
            f[i] + x];
end algorithm; *)
====
