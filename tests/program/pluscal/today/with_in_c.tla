VARIABLES pc, x, seen

vars == << pc, x, seen >>

Init == (* Global variables *)
        /\ x = 0
        /\ seen = {}
        /\ pc = "A"

A == /\ pc = "A"
     /\ \E t \in (1..4) \ seen:
          /\ x' = t
          /\ seen' = (seen \cup {t})
     /\ pc' = "B"

B == /\ pc = "B"
     /\ TRUE
     /\ pc' = "Done"
     /\ UNCHANGED << x, seen >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

