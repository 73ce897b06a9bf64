VARIABLES pc, x, stack, n

vars == << pc, x, stack, n >>

Init == (* Global variables *)
        /\ x = 0
        (* Procedure Add *)
        /\ n = 0
        /\ stack = << >>
        /\ pc = "S"

A == /\ pc = "A"
     /\ x' = x + n
     /\ pc' = "B"
     /\ UNCHANGED << stack, n >>

B == /\ pc = "B"
     /\ pc' = Head(stack).pc
     /\ n' = Head(stack).n
     /\ stack' = Tail(stack)
     /\ x' = x

Add == A \/ B

S == /\ pc = "S"
     /\ /\ n' = 1
        /\ stack' = << [ procedure |->  "Add",
                         pc        |->  "T",
                         n         |->  n ] >>
                     \o stack
     /\ pc' = "A"
     /\ x' = x

T == /\ pc = "T"
     /\ /\ n' = x + 1
        /\ stack' = << [ procedure |->  "Add",
                         pc        |->  "Done",
                         n         |->  n ] >>
                     \o stack
     /\ pc' = "A"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Add \/ S \/ T
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

