VARIABLES pc, p, q

vars == << pc, p, q >>

Init == (* Global variables *)
        /\ p \in BOOLEAN
        /\ q = TRUE
        /\ pc = "A"

A == /\ pc = "A"
     /\ p' = ~q
     /\ pc' = "B"
     /\ q' = q

B == /\ pc = "B"
     /\ q' = (p => q)
     /\ pc' = "C"
     /\ p' = p

C == /\ pc = "C"
     /\ p' = ((p <=> q) /\ ~(p \/ q))
     /\ pc' = "D"
     /\ q' = q

D == /\ pc = "D"
     /\ q' = (p # q)
     /\ pc' = "E"
     /\ p' = p

E == /\ pc = "E"
     /\ p' = (p /= q \/ q \equiv p)
     /\ pc' = "Done"
     /\ q' = q

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C \/ D \/ E
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

