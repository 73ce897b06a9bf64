VARIABLE pc

vars == << pc >>

Init == /\ pc = "Here"

Here == /\ pc = "Here"
        /\ TRUE
        /\ pc' = "There"

There == /\ pc = "There"
         /\ TRUE
         /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Here \/ There
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

