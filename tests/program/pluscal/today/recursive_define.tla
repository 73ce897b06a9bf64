VARIABLES pc, s, total

(* define statement *)
RECURSIVE Sum(_)
Sum(q) == IF q = <<>> THEN 0 ELSE Head(q) + Sum(Tail(q))
Fac[n \in 0..5] == IF n = 0 THEN 1 ELSE n * Fac[n - 1]


vars == << pc, s, total >>

Init == (* Global variables *)
        /\ s = <<1, 2, 3>>
        /\ total = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ total' = Sum(s) + Fac[3]
     /\ pc' = "Done"
     /\ s' = s

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

