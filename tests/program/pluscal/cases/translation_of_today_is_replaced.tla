---- MODULE translation_of_today_is_replaced ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Newer
variables x = 0;
begin
  A: x := 1;
  B: x := 2;
end algorithm; *)
\* BEGIN TRANSLATION (chksum(pcal) = "12345678" /\ chksum(tla) = "9abcdef0")
VARIABLE old
\* END TRANSLATION
====
