VARIABLES pc, s, f

vars == << pc, s, f >>

Init == (* Global variables *)
        /\ s = {1, 2, 3}
        /\ f = [a \in {1, 2}, b \in {1} |-> a + b]
        /\ pc = "A"

A == /\ pc = "A"
     /\ s' = {e \in s : \E k \in s : k > e}
     /\ pc' = "B"
     /\ f' = f

B == /\ pc = "B"
     /\ s' = ({e + 1 : e \in s} \cup UNION {{1}, {2}})
     /\ pc' = "C"
     /\ f' = f

C == /\ pc = "C"
     /\ s' = (CHOOSE t \in SUBSET s : Cardinality(t) = 1)
     /\ pc' = "D"
     /\ f' = f

D == /\ pc = "D"
     /\ \A a \in s, b \in s : a = b \/ a # b
     /\ s' = DOMAIN f
     /\ pc' = "Done"
     /\ f' = f

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C \/ D
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

