---- MODULE macro_with_assert_and_print ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Checks
variables x = 0;
macro Check(e) begin
  assert e;
  print <<"checked", e>>;
end macro;
begin
  A: Check(x = 0);
     x := 1;
  B: Check(x > 0 /\ x < 2);
end algorithm; *)
====
