VARIABLES pc, x

vars == << pc, x >>

ProcSet == {"left"} \cup {"right"}

Init == (* Global variables *)
        /\ x = 0
        /\ pc = [self \in ProcSet |-> CASE self = "left" -> "A"
                                        [] self = "right" -> "C"]

A == /\ pc["left"] = "A"
     /\ x' = 1
     /\ pc' = [pc EXCEPT !["left"] = "B"]

B == /\ pc["left"] = "B"
     /\ x' = 3
     /\ pc' = [pc EXCEPT !["left"] = "Done"]

Left == A \/ B

C == /\ pc["right"] = "C"
     /\ x' = 2
     /\ pc' = [pc EXCEPT !["right"] = "Done"]

Right == C

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == Left \/ Right
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

