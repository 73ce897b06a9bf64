---- MODULE nested_comments_inside ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Remarks (* a remark (* in a remark *) *)
variables x = 0; \* the only one
begin
  \* first
  A: x := (* what? *) x + 1; (* "quote *)
  B: x := x \* plus
          + 2;
end algorithm; *)
====
