---- MODULE semicolon_after_then ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm B
variables x = 0;
begin
  A: if x = 0 then ; x := 1; end if;
end algorithm; *)
====
