CONSTANT defaultInitValue
VARIABLES pc, n, stack, k, d

vars == << pc, n, stack, k, d >>

Init == (* Global variables *)
        /\ n = 0
        (* Procedure Step *)
        /\ k = defaultInitValue
        /\ d = 1
        /\ stack = << >>
        /\ pc = "L"

S1 == /\ pc = "S1"
      /\ n' = n + d * k
      /\ pc' = Head(stack).pc
      /\ d' = Head(stack).d
      /\ k' = Head(stack).k
      /\ stack' = Tail(stack)

Step == S1

L == /\ pc = "L"
     /\ IF n < 5
           THEN /\ /\ k' = 1
                   /\ stack' = << [ procedure |->  "Step",
                                    pc        |->  "M",
                                    d         |->  d,
                                    k         |->  k ] >>
                                \o stack
                /\ d' = 1
                /\ pc' = "S1"
           ELSE /\ pc' = "Done"
                /\ UNCHANGED << stack, k, d >>
     /\ n' = n

M == /\ pc = "M"
     /\ /\ k' = 2
        /\ stack' = << [ procedure |->  "Step",
                         pc        |->  "L",
                         d         |->  d,
                         k         |->  k ] >>
                     \o stack
     /\ d' = 1
     /\ pc' = "S1"
     /\ n' = n

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Step \/ L \/ M
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

