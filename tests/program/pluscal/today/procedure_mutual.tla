CONSTANT defaultInitValue
VARIABLES pc, n, stack, p, q

vars == << pc, n, stack, p, q >>

Init == (* Global variables *)
        /\ n = 3
        (* Procedure Ping *)
        /\ p = defaultInitValue
        (* Procedure Pong *)
        /\ q = defaultInitValue
        /\ stack = << >>
        /\ pc = "Main"

P1 == /\ pc = "P1"
      /\ IF p > 0
            THEN /\ /\ q' = p - 1
                    /\ stack' = << [ procedure |->  "Pong",
                                     pc        |->  Head(stack).pc,
                                     q         |->  q ] >>
                                 \o Tail(stack)
                 /\ pc' = "Q1"
            ELSE /\ pc' = "P2"
                 /\ UNCHANGED << stack, q >>
      /\ UNCHANGED << n, p >>

P2 == /\ pc = "P2"
      /\ pc' = Head(stack).pc
      /\ p' = Head(stack).p
      /\ stack' = Tail(stack)
      /\ UNCHANGED << n, q >>

Ping == P1 \/ P2

Q1 == /\ pc = "Q1"
      /\ n' = q
      /\ /\ p' = q
         /\ stack' = << [ procedure |->  "Ping",
                          pc        |->  Head(stack).pc,
                          p         |->  p ] >>
                      \o Tail(stack)
      /\ pc' = "P1"
      /\ q' = q

Pong == Q1

Main == /\ pc = "Main"
        /\ /\ p' = n
           /\ stack' = << [ procedure |->  "Ping",
                            pc        |->  "Done",
                            p         |->  p ] >>
                        \o stack
        /\ pc' = "P1"
        /\ UNCHANGED << n, q >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Ping \/ Pong \/ Main
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

