VARIABLES pc, x

vars == << pc, x >>

ProcSet == {<<"a", 1>>} \cup {[id |-> 2]} \cup ({1, 2} \X {"u"}) \cup {3 + 4}

Init == (* Global variables *)
        /\ x = 0
        /\ pc = [self \in ProcSet |-> CASE self = <<"a", 1>> -> "T1"
                                        [] self = [id |-> 2] -> "R1"
                                        [] self \in {1, 2} \X {"u"} -> "P1"
                                        [] self = 3 + 4 -> "E1"]

T1 == /\ pc[<<"a", 1>>] = "T1"
      /\ x' = 1
      /\ pc' = [pc EXCEPT ![<<"a", 1>>] = "Done"]

Tuple == T1

R1 == /\ pc[[id |-> 2]] = "R1"
      /\ x' = 2
      /\ pc' = [pc EXCEPT ![[id |-> 2]] = "Done"]

Rec == R1

P1(self) == /\ pc[self] = "P1"
            /\ x' = self[1]
            /\ pc' = [pc EXCEPT ![self] = "Done"]

Pairs(self) == P1(self)

E1 == /\ pc[3 + 4] = "E1"
      /\ x' = 7
      /\ pc' = [pc EXCEPT ![3 + 4] = "Done"]

Expr == E1

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == Tuple \/ Rec \/ Expr
           \/ (\E self \in {1, 2} \X {"u"}: Pairs(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

