VARIABLES pc, x

vars == << pc, x >>

Init == (* Global variables *)
        /\ x = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ Assert(x = 0, "Failure of assertion at line 6, column 8.")
     /\ x' = 1
     /\ Assert(x' = 1 /\ x' # 2, "Failure of assertion at line 8, column 8.")
     /\ pc' = "B"

B == /\ pc = "B"
     /\ Assert((x > 0), "Failure of assertion at line 9, column 8.")
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

