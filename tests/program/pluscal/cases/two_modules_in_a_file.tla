---- MODULE two_modules_in_a_file ----
EXTENDS Naturals
---- MODULE Inner ----
Zero == 0
====
(* --algorithm Outer
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
====
