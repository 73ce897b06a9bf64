VARIABLES pc, x, stack, a, b

vars == << pc, x, stack, a, b >>

Init == (* Global variables *)
        /\ x = 0
        (* Procedure P *)
        /\ a = 0
        /\ b = 1
        /\ stack = << >>
        /\ pc = "S"

A == /\ pc = "A"
     /\ a' = b + 1
     /\ b' = a'
     /\ pc' = "B"
     /\ UNCHANGED << x, stack >>

B == /\ pc = "B"
     /\ x' = a + b
     /\ pc' = Head(stack).pc
     /\ a' = Head(stack).a
     /\ b' = Head(stack).b
     /\ stack' = Tail(stack)

P == A \/ B

S == /\ pc = "S"
     /\ x' = 1
     /\ /\ a' = x'
        /\ b' = x' + 1
        /\ stack' = << [ procedure |->  "P",
                         pc        |->  "T",
                         a         |->  a,
                         b         |->  b ] >>
                     \o stack
     /\ pc' = "A"

T == /\ pc = "T"
     /\ TRUE
     /\ pc' = "Done"
     /\ UNCHANGED << x, stack, a, b >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == P \/ S \/ T
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

