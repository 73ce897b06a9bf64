VARIABLES pc, f, s, r

vars == << pc, f, s, r >>

Init == (* Global variables *)
        /\ f = <<1, 2>>
        /\ s = {}
        /\ r = [do |-> 1, then |-> 2]
        /\ pc = "A"

A == /\ pc = "A"
     /\ s' = (s \cup {x \in {1, 2} : x > 1} \cap {1})
     /\ pc' = "B"
     /\ UNCHANGED << f, r >>

B == /\ pc = "B"
     /\ f' = f \o <<3>>
     /\ pc' = "C"
     /\ UNCHANGED << s, r >>

C == /\ pc = "C"
     /\ s' = {<<a, b>> : a \in s, b \in s}
     /\ pc' = "D"
     /\ UNCHANGED << f, r >>

D == /\ pc = "D"
     /\ f' = [i \in 1..Len(f) |-> f[i]]
     /\ pc' = "Done"
     /\ UNCHANGED << s, r >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C \/ D
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

