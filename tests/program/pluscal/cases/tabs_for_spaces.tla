---- MODULE tabs_for_spaces ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Tabbed
variables	x = 0,
	y = 0;
begin
	A: await	/\ x = 0
			/\ y = 0;
		x := 1;
	B:	y := x;
end algorithm; *)
====
