---- MODULE bulleted_lists ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Bullets
variables x = 0, y = 0;
begin
  A: await /\ x = 0
           /\ \/ y = 0
              \/ y = 1
           /\ \A i \in 1..2 :
                \/ i > x
                \/ i < y;
     x := 1;
  B: if \/ x = 1
        \/ y = 1 then
       y := 2;
     end if;
  C: while /\ x < 3
           /\ y < 9 do
       x := x + 1;
     end while;
end algorithm; *)
====
