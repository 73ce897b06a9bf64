VARIABLES pc, result, stack, n

vars == << pc, result, stack, n >>

Init == (* Global variables *)
        /\ result = 1
        (* Procedure Fact *)
        /\ n = 0
        /\ stack = << >>
        /\ pc = "S"

F == /\ pc = "F"
     /\ IF n > 1
           THEN /\ result' = result * n
                /\ n' = n - 1
                /\ pc' = "F"
                /\ stack' = stack
           ELSE /\ pc' = Head(stack).pc
                /\ n' = Head(stack).n
                /\ stack' = Tail(stack)
                /\ UNCHANGED result

Fact == F

S == /\ pc = "S"
     /\ /\ n' = 4
        /\ stack' = << [ procedure |->  "Fact",
                         pc        |->  "Done",
                         n         |->  n ] >>
                     \o stack
     /\ pc' = "F"
     /\ UNCHANGED result

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Fact \/ S
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

