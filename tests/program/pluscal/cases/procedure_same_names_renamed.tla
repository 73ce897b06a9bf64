---- MODULE procedure_same_names_renamed ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Renamed
variables out = 0;
procedure P(n) variables i = 0;
begin
  L: i := n;
  M: out := i;
     return;
end procedure;
procedure Q(n) variables i = 1;
begin
  L: i := i + n;
  M: out := i;
     return;
end procedure;
begin
  S: call P(1);
  T: call Q(2);
end algorithm; *)
====
