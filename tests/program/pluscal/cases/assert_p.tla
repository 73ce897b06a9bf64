---- MODULE assert_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Claims
variables x = 0;
begin
  A: assert x = 0;
     x := 1;
     assert x = 1 /\ x # 2;
  B: assert /\ x > 0
            /\ x < 2;
end algorithm; *)
====
