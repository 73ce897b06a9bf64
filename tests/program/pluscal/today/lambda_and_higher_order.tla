VARIABLES pc, s

vars == << pc, s >>

Init == (* Global variables *)
        /\ s = <<1, 2, 3>>
        /\ pc = "A"

A == /\ pc = "A"
     /\ s' = SelectSeq(s, LAMBDA e : e > 1)
     /\ pc' = "B"

B == /\ pc = "B"
     /\ s' = [s EXCEPT ![1] = LET Id(a) == a IN Id(@)]
     /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

