VARIABLES pc, f, x, r

vars == << pc, f, x, r >>

Init == (* Global variables *)
        /\ f = [i \in 1..3 |-> i]
        /\ x = 0
        /\ r = [a |-> 0, b |-> [c |-> 1]]
        /\ pc = "A"

A == /\ pc = "A"
     /\ /\ f' = [f EXCEPT ![1] = x,
                          ![2] = 9]
        /\ r' = [r EXCEPT !.a = 2,
                          !.b.c = x]
        /\ x' = f[1]
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

