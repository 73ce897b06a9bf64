---- MODULE procedure_from_processes_c ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Shared {
  variables log = <<>>;
  procedure Write(w)
    variables copy = w;
  {
    W1: log := Append(log, <<self, copy>>);
    W2: return;
  }
  process (A \in 1..2) {
    A1: call Write("a");
  }
  process (B = 3) {
    B1: call Write("b");
    B2: call Write("c");
  }
} *)
====
