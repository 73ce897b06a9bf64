CONSTANT defaultInitValue
VARIABLES pc, x, stack, k, local

vars == << pc, x, stack, k, local >>

Init == (* Global variables *)
        /\ x = 0
        (* Procedure Work *)
        /\ k = defaultInitValue
        /\ local = 1
        /\ stack = << >>
        /\ pc = "A"

W == /\ pc = "W"
     /\ x' = x + k + local
     /\ pc' = Head(stack).pc
     /\ local' = Head(stack).local
     /\ k' = Head(stack).k
     /\ stack' = Tail(stack)

Work == W

A == /\ pc = "A"
     /\ /\ k' = 1
        /\ stack' = << [ procedure |->  "Work",
                         pc        |->  "C",
                         local     |->  local,
                         k         |->  k ] >>
                     \o stack
     /\ local' = 1
     /\ pc' = "W"
     /\ x' = x

B == /\ pc = "B"
     /\ x' = 0
     /\ pc' = "C"
     /\ UNCHANGED << stack, k, local >>

C == /\ pc = "C"
     /\ IF x < 3
           THEN /\ pc' = "A"
           ELSE /\ pc' = "Done"
     /\ UNCHANGED << x, stack, k, local >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Work \/ A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

