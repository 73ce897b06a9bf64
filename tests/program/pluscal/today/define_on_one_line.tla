VARIABLES pc, x

(* define statement *)
Twice == 2 * x


vars == << pc, x >>

Init == (* Global variables *)
        /\ x = 0
        /\ pc = "Go"

Go == /\ pc = "Go"
      /\ x' = Twice
      /\ pc' = "Done"

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Go
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

