VARIABLES pc, x

vars == << pc, x >>

Init == (* Global variables *)
        /\ x \in 0..1
        /\ pc = "A"

A == /\ pc = "A"
     /\ IF x = 0
           THEN /\ Assert(x < 1, 
                          "Failure of assertion at line 6, column 20.")
                /\ x' = x
           ELSE /\ Assert(x > 0, 
                          "Failure of assertion at line 6, column 39.")
                /\ x' = 0
     /\ pc' = "B"

B == /\ pc = "B"
     /\ \/ /\ Assert(TRUE, "Failure of assertion at line 7, column 13.")
        \/ /\ Assert(x = 0, "Failure of assertion at line 7, column 29.")
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

