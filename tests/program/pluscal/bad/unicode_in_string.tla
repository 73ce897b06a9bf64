---- MODULE unicode_in_string ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Polyglot \* \u00e9: é, ünïcode ∈
variables s = "naïve", t = "日本";
begin
  A: s := t; (* ≠ ∈ → *)
  B: assert s = "日本";
end algorithm; *)
====
