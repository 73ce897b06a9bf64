VARIABLES pc, a, b, c, d, e, f, g, h, i, j, k, someLongName1, someLongName2, 
          someLongName3, someLongName4, someLongName5

vars == << pc, a, b, c, d, e, f, g, h, i, j, k, someLongName1, someLongName2, 
           someLongName3, someLongName4, someLongName5 >>

Init == (* Global variables *)
        /\ a = 0
        /\ b = 0
        /\ c = 0
        /\ d = 0
        /\ e = 0
        /\ f = 0
        /\ g = 0
        /\ h = 0
        /\ i = 0
        /\ j = 0
        /\ k = 0
        /\ someLongName1 = 0
        /\ someLongName2 = 0
        /\ someLongName3 = 0
        /\ someLongName4 = 0
        /\ someLongName5 = 0
        /\ pc = "A"

A == /\ pc = "A"
     /\ IF a = 0
           THEN /\ b' = 1
                /\ UNCHANGED << c, d, e >>
           ELSE /\ IF a = 1
                      THEN /\ c' = 1
                           /\ d' = 1
                           /\ e' = e
                      ELSE /\ e' = 1
                           /\ UNCHANGED << c, d >>
                /\ b' = b
     /\ pc' = "B"
     /\ UNCHANGED << a, f, g, h, i, j, k, someLongName1, someLongName2, 
                     someLongName3, someLongName4, someLongName5 >>

B == /\ pc = "B"
     /\ \/ /\ f' = 1
           /\ UNCHANGED <<g, h, i>>
        \/ /\ g' = 1
           /\ UNCHANGED <<f, h, i>>
        \/ /\ h' = 1
           /\ i' = 1
           /\ UNCHANGED <<f, g>>
     /\ pc' = "C"
     /\ UNCHANGED << a, b, c, d, e, j, k, someLongName1, someLongName2, 
                     someLongName3, someLongName4, someLongName5 >>

C == /\ pc = "C"
     /\ k' = j
     /\ pc' = "Done"
     /\ UNCHANGED << a, b, c, d, e, f, g, h, i, j, someLongName1, 
                     someLongName2, someLongName3, someLongName4, 
                     someLongName5 >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == A \/ B \/ C
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

