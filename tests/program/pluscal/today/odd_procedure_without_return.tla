CONSTANT defaultInitValue
VARIABLES pc, x, stack, a

vars == << pc, x, stack, a >>

Init == (* Global variables *)
        /\ x = 0
        (* Procedure P *)
        /\ a = defaultInitValue
        /\ stack = << >>
        /\ pc = "A"

P1 == /\ pc = "P1"
      /\ x' = a
      /\ pc' = "Error"
      /\ UNCHANGED << stack, a >>

P == P1

A == /\ pc = "A"
     /\ /\ a' = 1
        /\ stack' = << [ procedure |->  "P",
                         pc        |->  "Done",
                         a         |->  a ] >>
                     \o stack
     /\ pc' = "P1"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == P \/ A
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

