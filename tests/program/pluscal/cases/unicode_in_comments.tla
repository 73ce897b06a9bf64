---- MODULE unicode_in_comments ----
EXTENDS Integers
(* é ∈ outside *)
(* --algorithm Polyglot \* ünïcode ∈
variables s = "naive";
begin
  A: s := "t"; (* ≠ ∈ → *)
  B: assert s = "t";
end algorithm; *) \* → behind
====
