---- MODULE process_same_locals_renamed ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm TwinLocals
variables x = 0;
process P \in 1..2
variable t = 0;
begin
  A: t := x;
  B: x := t + 1;
end process;
process Q \in 3..4
variables t = 1, u = t;
begin
  C: t := u;
  D: x := t;
end process;
end algorithm; *)
====
