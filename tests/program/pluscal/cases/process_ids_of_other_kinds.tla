---- MODULE process_ids_of_other_kinds ----
EXTENDS Integers, Sequences, FiniteSets, TLC
(* --algorithm Ids
variables x = 0;
process Tuple = <<"a", 1>> begin T1: x := 1; end process;
process Rec = [id |-> 2] begin R1: x := 2; end process;
process Pairs \in {1, 2} \X {"u"} begin P1: x := self[1]; end process;
process Expr = 3 + 4 begin E1: x := 7; end process;
end algorithm; *)
====
