CONSTANT defaultInitValue
VARIABLES pc, n, stack, a, b, l1, c, l2, l3

vars == << pc, n, stack, a, b, l1, c, l2, l3 >>

Init == (* Global variables *)
        /\ n = 3
        (* Procedure First *)
        /\ a = 1
        /\ b = defaultInitValue
        /\ l1 = 5
        (* Procedure Second *)
        /\ c = defaultInitValue
        /\ l2 = 6
        /\ l3 = defaultInitValue
        /\ stack = << >>
        /\ pc = "Main"

P1 == /\ pc = "P1"
      /\ n' = a
      /\ /\ c' = n'
         /\ l1' = Head(stack).l1
         /\ stack' = << [ procedure |->  "Second",
                          pc        |->  Head(stack).pc,
                          l2        |->  l2,
                          l3        |->  l3,
                          c         |->  c ] >>
                      \o Tail(stack)
      /\ l2' = 6
      /\ l3' = defaultInitValue
      /\ pc' = "Q1"
      /\ UNCHANGED << a, b >>

First == P1

Q1 == /\ pc = "Q1"
      /\ n' = c
      /\ pc' = Head(stack).pc
      /\ l2' = Head(stack).l2
      /\ l3' = Head(stack).l3
      /\ c' = Head(stack).c
      /\ stack' = Tail(stack)
      /\ UNCHANGED << a, b, l1 >>

Second == Q1

Main == /\ pc = "Main"
        /\ /\ a' = n
           /\ b' = 2
           /\ stack' = << [ procedure |->  "First",
                            pc        |->  "Done",
                            l1        |->  l1,
                            a         |->  a,
                            b         |->  b ] >>
                        \o stack
        /\ l1' = 5
        /\ pc' = "P1"
        /\ UNCHANGED << n, c, l2, l3 >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == First \/ Second \/ Main
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

