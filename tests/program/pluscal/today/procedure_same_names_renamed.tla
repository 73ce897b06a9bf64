\* Label L of procedure P at line 7 col 6 changed to L_
\* Label M of procedure P at line 8 col 6 changed to M_
\* Procedure variable i of procedure P at line 5 col 26 changed to i_
\* Parameter n of procedure P at line 5 col 13 changed to n_
CONSTANT defaultInitValue
VARIABLES pc, out, stack, n_, i_, n, i

vars == << pc, out, stack, n_, i_, n, i >>

Init == (* Global variables *)
        /\ out = 0
        (* Procedure P *)
        /\ n_ = defaultInitValue
        /\ i_ = 0
        (* Procedure Q *)
        /\ n = defaultInitValue
        /\ i = 1
        /\ stack = << >>
        /\ pc = "S"

L_ == /\ pc = "L_"
      /\ i_' = n_
      /\ pc' = "M_"
      /\ UNCHANGED << out, stack, n_, n, i >>

M_ == /\ pc = "M_"
      /\ out' = i_
      /\ pc' = Head(stack).pc
      /\ i_' = Head(stack).i_
      /\ n_' = Head(stack).n_
      /\ stack' = Tail(stack)
      /\ UNCHANGED << n, i >>

P == L_ \/ M_

L == /\ pc = "L"
     /\ i' = i + n
     /\ pc' = "M"
     /\ UNCHANGED << out, stack, n_, i_, n >>

M == /\ pc = "M"
     /\ out' = i
     /\ pc' = Head(stack).pc
     /\ i' = Head(stack).i
     /\ n' = Head(stack).n
     /\ stack' = Tail(stack)
     /\ UNCHANGED << n_, i_ >>

Q == L \/ M

S == /\ pc = "S"
     /\ /\ n_' = 1
        /\ stack' = << [ procedure |->  "P",
                         pc        |->  "T",
                         i_        |->  i_,
                         n_        |->  n_ ] >>
                     \o stack
     /\ i_' = 0
     /\ pc' = "L_"
     /\ UNCHANGED << out, n, i >>

T == /\ pc = "T"
     /\ /\ n' = 2
        /\ stack' = << [ procedure |->  "Q",
                         pc        |->  "Done",
                         i         |->  i,
                         n         |->  n ] >>
                     \o stack
     /\ i' = 1
     /\ pc' = "L"
     /\ UNCHANGED << out, n_, i_ >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == P \/ Q \/ S \/ T
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

