CONSTANT defaultInitValue
VARIABLES pc, depth, stack, n

vars == << pc, depth, stack, n >>

Init == (* Global variables *)
        /\ depth = 0
        (* Procedure P *)
        /\ n = defaultInitValue
        /\ stack = << >>
        /\ pc = "S"

A == /\ pc = "A"
     /\ depth' = Len(stack)
     /\ IF n > 0
           THEN /\ /\ n' = n - 1
                   /\ stack' = << [ procedure |->  "P",
                                    pc        |->  "B",
                                    n         |->  n ] >>
                                \o stack
                /\ pc' = "A"
           ELSE /\ pc' = "B"
                /\ UNCHANGED << stack, n >>

B == /\ pc = "B"
     /\ pc' = Head(stack).pc
     /\ n' = Head(stack).n
     /\ stack' = Tail(stack)
     /\ depth' = depth

P == A \/ B

S == /\ pc = "S"
     /\ /\ n' = 2
        /\ stack' = << [ procedure |->  "P",
                         pc        |->  "Done",
                         n         |->  n ] >>
                     \o stack
     /\ pc' = "A"
     /\ depth' = depth

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == P \/ S
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

