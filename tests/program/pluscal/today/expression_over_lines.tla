VARIABLES pc, x, f

vars == << pc, x, f >>

Init == (* Global variables *)
        /\ x = 0
        /\ f = [i \in 1..3 |->
                  IF i = 1
                    THEN 0
                    ELSE i]
        /\ pc = "A"

A == /\ pc = "A"
     /\ x' = (IF /\ x = 0
                 /\ f[1] = 0
                THEN LET a == 1
                         b == 2
                     IN  a + b
                ELSE CASE x = 1 -> 2
                       [] x = 2 -> 3
                       [] OTHER -> 4)
     /\ pc' = "B"
     /\ f' = f

B == /\ pc = "B"
     /\ f' = [i \in DOMAIN f |->
               f[i] + x]
     /\ pc' = "Done"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

