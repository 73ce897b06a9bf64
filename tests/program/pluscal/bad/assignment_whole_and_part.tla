---- MODULE assignment_whole_and_part ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables f = <<1, 2>>;
begin
  A: f := <<2, 2>> || f[1] := 3;
end algorithm; *)
====
