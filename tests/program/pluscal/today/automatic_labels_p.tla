VARIABLES pc, x, y

vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ pc = "Lbl_1"

Lbl_1 == /\ pc = "Lbl_1"
         /\ x' = 1
         /\ pc' = "Lbl_2"
         /\ y' = y

Lbl_2 == /\ pc = "Lbl_2"
         /\ x' = 2
         /\ y' = x'
         /\ pc' = "Lbl_3"

Lbl_3 == /\ pc = "Lbl_3"
         /\ IF y > 0
               THEN /\ y' = y - 1
                    /\ pc' = "Lbl_3"
                    /\ x' = x
               ELSE /\ x' = 3
                    /\ pc' = "Done"
                    /\ y' = y

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Lbl_1 \/ Lbl_2 \/ Lbl_3
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

