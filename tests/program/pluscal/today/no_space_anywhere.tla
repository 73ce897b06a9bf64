VARIABLES pc, x, f

vars == << pc, x, f >>

Init == (* Global variables *)
        /\ x = 0
        /\ f = [i\in 1..2|->0]
        /\ pc = "A"

A == /\ pc = "A"
     /\ x' = x+1
     /\ f' = [f EXCEPT ![1] = x']
     /\ pc' = "B"

B == /\ pc = "B"
     /\ IF x=1
           THEN /\ x' = 2
           ELSE /\ x' = 3
     /\ pc' = "C"
     /\ f' = f

C == /\ pc = "C"
     /\ IF x<4
           THEN /\ x' = x+1
                /\ pc' = "C"
           ELSE /\ pc' = "Done"
                /\ x' = x
     /\ f' = f

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

