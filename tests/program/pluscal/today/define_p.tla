VARIABLES pc, x, y

(* define statement *)
Sum == x + y
Positive(n) == n > 0
Both == /\ Positive(x)
        /\ Positive(y)


vars == << pc, x, y >>

Init == (* Global variables *)
        /\ x = 0
        /\ y = 0
        /\ pc = "Go"

Go == /\ pc = "Go"
      /\ x' = Sum + 1
      /\ pc' = "Done"
      /\ y' = y

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Go
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

