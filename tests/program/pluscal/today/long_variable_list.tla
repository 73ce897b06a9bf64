VARIABLES pc, firstRatherLongName, secondRatherLongName, thirdRatherLongName, 
          fourthRatherLongName, fifthRatherLongName, sixthRatherLongName

vars == << pc, firstRatherLongName, secondRatherLongName, thirdRatherLongName, 
           fourthRatherLongName, fifthRatherLongName, sixthRatherLongName >>

Init == (* Global variables *)
        /\ firstRatherLongName = 0
        /\ secondRatherLongName = 0
        /\ thirdRatherLongName = 0
        /\ fourthRatherLongName = 0
        /\ fifthRatherLongName = 0
        /\ sixthRatherLongName = 0
        /\ pc = "Step"

Step == /\ pc = "Step"
        /\ /\ firstRatherLongName' = 1
           /\ sixthRatherLongName' = 2
        /\ pc' = "Again"
        /\ UNCHANGED << secondRatherLongName, thirdRatherLongName, 
                        fourthRatherLongName, fifthRatherLongName >>

Again == /\ pc = "Again"
         /\ thirdRatherLongName' = 1
         /\ pc' = "Done"
         /\ UNCHANGED << firstRatherLongName, secondRatherLongName, 
                         fourthRatherLongName, fifthRatherLongName, 
                         sixthRatherLongName >>

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Step \/ Again
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

