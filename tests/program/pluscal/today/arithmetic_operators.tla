VARIABLES pc, n, m

vars == << pc, n, m >>

Init == (* Global variables *)
        /\ n = 0
        /\ m \in -1..1
        /\ pc = "A"

A == /\ pc = "A"
     /\ n' = (-m + 2 * 3 - 4 \div 2 + 5 % 3)
     /\ pc' = "B"
     /\ m' = m

B == /\ pc = "B"
     /\ m' = n ^ 2
     /\ pc' = "C"
     /\ n' = n

C == /\ pc = "C"
     /\ n' = (IF n <= m /\ m >= n /\ n =< 7 THEN 1 ELSE -1)
     /\ pc' = "D"
     /\ m' = m

D == /\ pc = "D"
     /\ m' = 2 - -n
     /\ pc' = "Done"
     /\ n' = n

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C \/ D
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

