VARIABLES pc, x, y, f

vars == << pc, x, y, f >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ f = [i \in 0..5 |-> i]
        /\ pc = "A"

A == /\ pc = "A"
     /\ x' = x + 1
     /\ y' = x' * 2
     /\ f' = [f EXCEPT ![x'] = y' + f[y']]
     /\ pc' = "B"

B == /\ pc = "B"
     /\ y' = f[x]
     /\ pc' = "Done"
     /\ UNCHANGED << x, f >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

