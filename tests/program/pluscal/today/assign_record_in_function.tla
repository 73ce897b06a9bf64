VARIABLES pc, t

vars == << pc, t >>

Init == (* Global variables *)
        /\ t = [i \in 1..2 |-> [k |-> 0, v |-> "none"]]
        /\ pc = "A"

A == /\ pc = "A"
     /\ t' = [t EXCEPT ![1].k = 1]
     /\ pc' = "B"

B == /\ pc = "B"
     /\ t' = [t EXCEPT ![2].v = "some",
                       ![1].v = t[2].v]
     /\ pc' = "C"

C == /\ pc = "C"
     /\ t' = [t EXCEPT ![1].k = 3, ![2] = t[1]]
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

