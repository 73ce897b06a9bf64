---- MODULE procedure_tail_call_return ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Tail {
  variables result = 1;
  procedure Fact(n = 0) {
    F: if (n > 1) {
         result := result * n;
         call Fact(n - 1);
         return;
       } else return;
  }
  { S: call Fact(4); }
} *)
====
