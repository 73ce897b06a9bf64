VARIABLES pc, r

vars == << pc, r >>

Init == (* Global variables *)
        /\ r = [name |-> "a", deep |-> [n |-> 0, f |-> <<1, 2>>]]
        /\ pc = "A"

A == /\ pc = "A"
     /\ r' = [r EXCEPT !.name = "b"]
     /\ pc' = "B"

B == /\ pc = "B"
     /\ r' = [r EXCEPT !.deep.n = r.deep.n + 1]
     /\ pc' = "C"

C == /\ pc = "C"
     /\ r' = [r EXCEPT !.deep.f[2] = 7]
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

