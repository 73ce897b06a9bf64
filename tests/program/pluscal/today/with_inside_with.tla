VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ \E s \in SUBSET {1, 2}:
          /\ s # {}
          /\ \E e \in s:
               /\ x' = e
               /\ IF x' > 1
                     THEN /\ y' = x'
                     ELSE /\ y' = 0
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

