VARIABLES pc, x, stack

vars == << pc, x, stack >>

Init == (* Global variables *)
        /\ x = 0
        /\ stack = << >>
        /\ pc = "S"

A == /\ pc = "A"
     /\ x' = x + 1
     /\ pc' = Head(stack).pc
     /\ stack' = Tail(stack)

Tick == A

S == /\ pc = "S"
     /\ stack' = << [ procedure |->  "Tick",
                      pc        |->  "T" ] >>
                  \o stack
     /\ pc' = "A"
     /\ x' = x

T == /\ pc = "T"
     /\ stack' = << [ procedure |->  "Tick",
                      pc        |->  "U" ] >>
                  \o stack
     /\ pc' = "A"
     /\ x' = x

U == /\ pc = "U"
     /\ x' = 0
     /\ pc' = "Done"
     /\ stack' = stack

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Tick \/ S \/ T \/ U
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

