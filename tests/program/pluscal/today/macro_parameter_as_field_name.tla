VARIABLES pc, r, m

vars == << pc, r, m >>

Init == (* Global variables *)
        /\ r = [a |-> 0, b |-> 1]
        /\ m = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ r' = [a |-> 5, b |-> r.b]
     /\ m' = r'.a + 5
     /\ pc' = "B"

B == /\ pc = "B"
     /\ r' = [a |-> m, b |-> r.b]
     /\ m' = r'.a + m
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

