\* Label A of procedure P at line 7 col 6 changed to A_
\* Procedure variable t of procedure P at line 5 col 29 changed to t_
\* Parameter v of procedure P at line 5 col 13 changed to v_
CONSTANT defaultInitValue
VARIABLES pc, log, x, stack, v_, w, t_, v, t

vars == << pc, log, x, stack, v_, w, t_, v, t >>

Init == (* Global variables *)
        /\ log = <<>>
        /\ x = 9
        (* Procedure P *)
        /\ v_ = defaultInitValue
        /\ w = defaultInitValue
        /\ t_ = v_
        (* Procedure Q *)
        /\ v = defaultInitValue
        /\ t = 2
        /\ stack = << >>
        /\ pc = "S"

A_ == /\ pc = "A_"
      /\ log' = Append(log, [v |-> v_, w |-> w, t |-> t_])
      /\ pc' = "C"
      /\ UNCHANGED << x, stack, v_, w, t_, v, t >>

C == /\ pc = "C"
     /\ /\ v_' = w
        /\ w' = v_
     /\ pc' = "D"
     /\ UNCHANGED << log, x, stack, t_, v, t >>

D == /\ pc = "D"
     /\ t_' = v_ + w
     /\ pc' = "R"
     /\ UNCHANGED << log, x, stack, v_, w, v, t >>

R == /\ pc = "R"
     /\ pc' = Head(stack).pc
     /\ t_' = Head(stack).t_
     /\ v_' = Head(stack).v_
     /\ w' = Head(stack).w
     /\ stack' = Tail(stack)
     /\ UNCHANGED << log, x, v, t >>

P == A_ \/ C \/ D \/ R

A == /\ pc = "A"
     /\ v' = 1
     /\ pc' = "E"
     /\ UNCHANGED << log, x, stack, v_, w, t_, t >>

E == /\ pc = "E"
     /\ /\ stack' = << [ procedure |->  "P",
                         pc        |->  "B",
                         t_        |->  t_,
                         v_        |->  v_,
                         w         |->  w ] >>
                     \o stack
        /\ v_' = v
        /\ w' = t
     /\ t_' = v_'
     /\ pc' = "A_"
     /\ UNCHANGED << log, x, v, t >>

B == /\ pc = "B"
     /\ log' = Append(log, <<v, t>>)
     /\ pc' = Head(stack).pc
     /\ t' = Head(stack).t
     /\ v' = Head(stack).v
     /\ stack' = Tail(stack)
     /\ UNCHANGED << x, v_, w, t_ >>

Q == A \/ E \/ B

S == /\ pc = "S"
     /\ /\ stack' = << [ procedure |->  "Q",
                         pc        |->  "Done",
                         t         |->  t,
                         v         |->  v ] >>
                     \o stack
        /\ v' = x
     /\ t' = 2
     /\ pc' = "A"
     /\ UNCHANGED << log, x, v_, w, t_ >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == P \/ Q \/ S
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

