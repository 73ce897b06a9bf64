VARIABLES pc, a, b, c, d

vars == << pc, a, b, c, d >>

Init == (* Global variables *)
        /\ a = 1
        /\ b \in 1..3
        /\ c = <<1, 2>>
        /\ d = [k \in 1..2 |-> k]
        /\ pc = "First"

First == /\ pc = "First"
         /\ a' = b
         /\ pc' = "Second"
         /\ UNCHANGED << b, c, d >>

Second == /\ pc = "Second"
          /\ d' = [d EXCEPT ![1] = a]
          /\ pc' = "Done"
          /\ UNCHANGED << a, b, c >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == First \/ Second
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

