VARIABLES pc, x

vars == << pc, x >>

Init == (* Global variables *)
        /\ x = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ Assert(x = 0, 
               "Failure of assertion at line 6, column 3 of macro called at line 10, column 6.")
     /\ PrintT(<<"checked", (x = 0)>>)
     /\ x' = 1
     /\ pc' = "B"

B == /\ pc = "B"
     /\ Assert(x > 0 /\ x < 2, 
               "Failure of assertion at line 6, column 3 of macro called at line 12, column 6.")
     /\ PrintT(<<"checked", (x > 0 /\ x < 2)>>)
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

