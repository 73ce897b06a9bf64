---- MODULE procedure_nested_calls_fair ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Nest {
  variables x = 0;
  procedure Low(l) { L1: x := l; return; }
  procedure Mid(m) { M1: call Low(m + 1); M2: return; }
  procedure High() { H1: call Mid(1); H2: call Low(2); return; }
  fair process (P \in 1..2) { P1: call High(); P2: x := 0; }
} *)
====
