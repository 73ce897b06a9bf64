---- MODULE operators_that_look_like_syntax ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Lookalike
variables f = <<1, 2>>, s = {}, r = [do |-> 1, then |-> 2];
begin
  A: s := s \cup {x \in {1, 2} : x > 1} \cap {1};
  B: f := f \o <<3>>;
  C: s := {<<a, b>> : a \in s, b \in s};
  D: f := [i \in 1..Len(f) |-> f[i]];
end algorithm; *)
====
