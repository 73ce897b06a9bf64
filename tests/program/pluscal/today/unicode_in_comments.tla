VARIABLES pc, s

vars == << pc, s >>

Init == (* Global variables *)
        /\ s = "naive"
        /\ pc = "A"

A == /\ pc = "A"
     /\ s' = "t"
     /\ pc' = "B"

B == /\ pc = "B"
     /\ Assert(s = "t", "Failure of assertion at line 8, column 6.")
     /\ pc' = "Done"
     /\ s' = s

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

