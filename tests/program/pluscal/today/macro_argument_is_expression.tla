VARIABLES pc, x, y, r

vars == << pc, x, y, r >>

Init == (* Global variables *)
        /\ x = 1
        /\ y = 2
        /\ r = [x |-> 0]
        /\ pc = "A"

A == /\ pc = "A"
     /\ x' = (x + 1) * (y - 1)
     /\ pc' = "B"
     /\ UNCHANGED << y, r >>

B == /\ pc = "B"
     /\ y' = x * (Head(<<y, x>>))
     /\ pc' = "C"
     /\ UNCHANGED << x, r >>

C == /\ pc = "C"
     /\ r' = [r EXCEPT !.x = (r.x) * (IF x > 0 THEN 1 ELSE 2)]
     /\ pc' = "Done"
     /\ UNCHANGED << x, y >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

