CONSTANT defaultInitValue
VARIABLES pc, x, stack, a

vars == << pc, x, stack, a >>

Init == (* Global variables *)
        /\ x = 0
        (* Procedure P *)
        /\ a = defaultInitValue
        /\ stack = << >>
        /\ pc = "Lbl_3"

Lbl_1 == /\ pc = "Lbl_1"
         /\ x' = a
         /\ pc' = "Lbl_2"
         /\ UNCHANGED << stack, a >>

Lbl_2 == /\ pc = "Lbl_2"
         /\ x' = a + 1
         /\ pc' = Head(stack).pc
         /\ a' = Head(stack).a
         /\ stack' = Tail(stack)

P == Lbl_1 \/ Lbl_2

Lbl_3 == /\ pc = "Lbl_3"
         /\ /\ a' = 1
            /\ stack' = << [ procedure |->  "P",
                             pc        |->  "Lbl_4",
                             a         |->  a ] >>
                         \o stack
         /\ pc' = "Lbl_1"
         /\ x' = x

Lbl_4 == /\ pc = "Lbl_4"
         /\ x' = 5
         /\ IF x' = 5
               THEN /\ /\ a' = 2
                       /\ stack' = << [ procedure |->  "P",
                                        pc        |->  "Lbl_6",
                                        a         |->  a ] >>
                                    \o stack
                    /\ pc' = "Lbl_1"
               ELSE /\ pc' = "Lbl_5"
                    /\ UNCHANGED << stack, a >>

Lbl_5 == /\ pc = "Lbl_5"
         /\ x' = 6
         /\ pc' = "Lbl_6"
         /\ UNCHANGED << stack, a >>

Lbl_6 == /\ pc = "Lbl_6"
         /\ x' = 7
         /\ pc' = "Done"
         /\ UNCHANGED << stack, a >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == P \/ Lbl_3 \/ Lbl_4 \/ Lbl_5 \/ Lbl_6
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

