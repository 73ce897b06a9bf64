CONSTANT defaultInitValue
VARIABLES pc, x, stack, b

vars == << pc, x, stack, b >>

Init == (* Global variables *)
        /\ x = 0
        (* Procedure P *)
        /\ b = defaultInitValue
        /\ stack = << >>
        /\ pc = "A"

P1 == /\ pc = "P1"
      /\ pc' = Head(stack).pc
      /\ b' = Head(stack).b
      /\ stack' = Tail(stack)
      /\ x' = x

P == P1

A == /\ pc = "A"
     /\ /\ b' = 1
        /\ stack' = << [ procedure |->  "P",
                         pc        |->  "Done",
                         b         |->  b ] >>
                     \o stack
     /\ pc' = "P1"
     /\ x' = x

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == P \/ A
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

