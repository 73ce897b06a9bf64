CONSTANT defaultInitValue
VARIABLES pc, late, set

vars == << pc, late, set >>

Init == (* Global variables *)
        /\ late = defaultInitValue
        /\ set = {}
        /\ pc = "Set"

Set == /\ pc = "Set"
       /\ late' = 3
       /\ pc' = "Use"
       /\ set' = set

Use == /\ pc = "Use"
       /\ set' = {late}
       /\ pc' = "Done"
       /\ late' = late

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Set \/ Use
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

