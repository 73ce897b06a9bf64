VARIABLES pc, s, t, u

vars == << pc, s, t, u >>

Init == (* Global variables *)
        /\ s = "a := b; (c) { d }"
        /\ t = "while \" do"
        /\ u = "--algorithm"
        /\ pc = "A"

A == /\ pc = "A"
     /\ s' = "goto Done"
     /\ t' = s'
     /\ pc' = "B"
     /\ u' = u

B == /\ pc = "B"
     /\ PrintT("end algorithm")
     /\ pc' = "Done"
     /\ UNCHANGED << s, t, u >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

