---- MODULE option_line_width ----
EXTENDS Integers, Sequences, FiniteSets, TLC
\* PlusCal options (-lineWidth 50)
(* --algorithm Narrow
variables firstName = 0, secondName = 0, thirdName = 0;
process Worker \in 1..2
variables localName = 0;
begin
  A: if firstName = secondName then thirdName := localName + firstName + secondName; end if;
  B: localName := thirdName;
end process;
end algorithm; *)
====
