---- MODULE macro_with_either_and_with ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Choices
variables x = 0, s = {1, 2};
macro Any(set, out) begin
  either
    with e \in set do out := e; end with;
  or
    out := 0;
  end either;
end macro;
begin
  A: Any(s, x);
  B: Any({x, x + 1}, x);
end algorithm; *)
====
