CONSTANT defaultInitValue
VARIABLES pc, n, stack, t

vars == << pc, n, stack, t >>

Init == (* Global variables *)
        /\ n = 0
        (* Procedure P *)
        /\ t = defaultInitValue
        /\ stack = << >>
        /\ pc = "S"

A == /\ pc = "A"
     /\ n' = t
     /\ pc' = Head(stack).pc
     /\ t' = Head(stack).t
     /\ stack' = Tail(stack)

P == A

S == /\ pc = "S"
     /\ n' = 4
     /\ /\ stack' = << [ procedure |->  "P",
                         pc        |->  "U",
                         t         |->  t ] >>
                     \o stack
        /\ t' = n' + 1
     /\ pc' = "A"

T == /\ pc = "T"
     /\ n' = 0
     /\ pc' = "U"
     /\ UNCHANGED << stack, t >>

U == /\ pc = "U"
     /\ TRUE
     /\ pc' = "Done"
     /\ UNCHANGED << n, stack, t >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == P \/ S \/ T \/ U
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

