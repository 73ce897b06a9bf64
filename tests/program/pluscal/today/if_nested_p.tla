VARIABLES pc, a, b, c, n

vars == << pc, a, b, c, n >>

Init == (* Global variables *)
        /\ a \in BOOLEAN
        /\ b \in BOOLEAN
        /\ c \in BOOLEAN
        /\ n = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ IF a
           THEN /\ IF b
                      THEN /\ IF c
                                 THEN /\ n' = 7
                                 ELSE /\ n' = 6
                      ELSE /\ n' = 5
           ELSE /\ IF b
                      THEN /\ n' = 3
                      ELSE /\ TRUE
                           /\ n' = n
     /\ pc' = "Done"
     /\ UNCHANGED << a, b, c >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

