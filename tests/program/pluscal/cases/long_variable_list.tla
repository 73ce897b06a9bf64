---- MODULE long_variable_list ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Wide
variables firstRatherLongName = 0, secondRatherLongName = 0, thirdRatherLongName = 0,
          fourthRatherLongName = 0, fifthRatherLongName = 0, sixthRatherLongName = 0;
begin
  Step: firstRatherLongName := 1 || sixthRatherLongName := 2;
  Again: thirdRatherLongName := 1;
end algorithm; *)
====
