---- MODULE bulleted_lists_after_rename ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm BulletsLocal
variables go = FALSE;
process P \in 1..2
variables t = 0, verylongname = 1;
begin
  A: await /\ t = 0
           /\ verylongname = 1 => \/ go
                                  \/ t < 3
           /\ t + verylongname < 5;
     t := IF /\ t = 0 /\ go
             /\ verylongname = 1 THEN 1
          ELSE 2;
  B: verylongname := t;
end process;
end algorithm; *)
====
