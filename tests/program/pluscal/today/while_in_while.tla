VARIABLES pc, i, j

vars == << pc, i, j >>

Init == (* Global variables *)
        /\ i = 0
        /\ j = 0
        /\ pc = "Outer"

Outer == /\ pc = "Outer"
         /\ IF i < 2
               THEN /\ j' = 0
                    /\ pc' = "Inner"
               ELSE /\ pc' = "Done"
                    /\ j' = j
         /\ i' = i

Inner == /\ pc = "Inner"
         /\ IF j < 2
               THEN /\ j' = j + 1
                    /\ pc' = "Inner"
               ELSE /\ pc' = "Next1"
                    /\ j' = j
         /\ i' = i

Next1 == /\ pc = "Next1"
         /\ i' = i + 1
         /\ pc' = "Outer"
         /\ j' = j

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Outer \/ Inner \/ Next1
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

