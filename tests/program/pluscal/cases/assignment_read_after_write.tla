---- MODULE assignment_read_after_write ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Primes
variables x = 0, y = 0, f = [i \in 0..5 |-> i];
begin
  A: x := x + 1;
     y := x * 2;
     f[x] := y + f[y];
  B: y := f[x];
end algorithm; *)
====
