CONSTANT defaultInitValue
VARIABLES pc, n, g, stack, t, u, v

vars == << pc, n, g, stack, t, u, v >>

Init == (* Global variables *)
        /\ n = <<>>
        /\ g = [a |-> <<1, 2>>]
        (* Procedure P *)
        /\ t = defaultInitValue
        /\ u = defaultInitValue
        /\ v = defaultInitValue
        /\ stack = << >>
        /\ pc = "S"

A == /\ pc = "A"
     /\ n' = Append(t, u) \o v
     /\ pc' = Head(stack).pc
     /\ t' = Head(stack).t
     /\ u' = Head(stack).u
     /\ v' = Head(stack).v
     /\ stack' = Tail(stack)
     /\ g' = g

P == A

S == /\ pc = "S"
     /\ /\ stack' = << [ procedure |->  "P",
                         pc        |->  "Done",
                         t         |->  t,
                         u         |->  u,
                         v         |->  v ] >>
                     \o stack
        /\ t' = <<1, 2>>
        /\ u' = g.a[1]
        /\ v' = (IF n = <<>> THEN <<>> ELSE <<"x", "y">>)
     /\ pc' = "A"
     /\ UNCHANGED << n, g >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == P \/ S
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

