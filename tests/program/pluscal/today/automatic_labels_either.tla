VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ pc = "Lbl_1"

Lbl_1 == /\ pc = "Lbl_1"
         /\ \/ /\ x' = 1
               /\ pc' = "Lbl_2"
               /\ y' = y
            \/ /\ y' = 1
               /\ pc' = "Lbl_3"
               /\ x' = x

Lbl_2 == /\ pc = "Lbl_2"
         /\ x' = 2
         /\ pc' = "Lbl_3"
         /\ y' = y

Lbl_3 == /\ pc = "Lbl_3"
         /\ y' = 2
         /\ \E a \in {1, 2}:
              x' = a
         /\ pc' = "Lbl_4"

Lbl_4 == /\ pc = "Lbl_4"
         /\ x' = 3
         /\ pc' = "Done"
         /\ y' = y

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Lbl_1 \/ Lbl_2 \/ Lbl_3 \/ Lbl_4
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

