---- MODULE assignment_twice_through_macro ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
macro Up(v) begin v := v + 1; end macro;
begin
  A: Up(x);
     Up(x);
end algorithm; *)
====
