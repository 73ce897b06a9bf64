---- MODULE procedure_from_processes_p ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Shared
variables log = <<>>;
procedure Write(w)
begin
  W1: log := Append(log, <<self, w>>);
  W2: return;
end procedure;
process A \in 1..2
begin
  A1: call Write("a");
end process;
process B = 3
begin
  B1: call Write("b");
  B2: call Write("c");
end process;
end algorithm; *)
====
