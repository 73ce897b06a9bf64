VARIABLES pc, f

vars == << pc, f >>

Init == (* Global variables *)
        /\ f = [i \in 1..3 |-> i]
        /\ pc = "A"

A == /\ pc = "A"
     /\ f' = [f EXCEPT ![1] = f[2],
                       ![2] = f[1]]
     /\ pc' = "B"

B == /\ pc = "B"
     /\ f' = [f EXCEPT ![3] = 0,
                       ![1] = 1,
                       ![2] = f[3]]
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

