VARIABLES pc, x, y, z

vars == << pc, x, y, z >>

Init == (* Global variables *)
        /\ x \in 0..5
        /\ y = 0
        /\ z = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ IF x = 0
           THEN /\ y' = 1
                /\ z' = z
           ELSE /\ IF x = 1
                      THEN /\ z' = 2
                           /\ y' = y
                      ELSE /\ IF x = 2
                                 THEN /\ y' = 3
                                      /\ z' = 3
                                 ELSE /\ TRUE
                                      /\ UNCHANGED << y, z >>
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

