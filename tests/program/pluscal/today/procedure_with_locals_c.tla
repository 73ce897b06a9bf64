CONSTANT defaultInitValue
VARIABLES pc, out, stack, a, b, i, acc

vars == << pc, out, stack, a, b, i, acc >>

Init == (* Global variables *)
        /\ out = 0
        (* Procedure Mul *)
        /\ a = defaultInitValue
        /\ b = defaultInitValue
        /\ i = 0
        /\ acc = 0
        /\ stack = << >>
        /\ pc = "S"

L == /\ pc = "L"
     /\ IF i < a
           THEN /\ acc' = acc + b
                /\ i' = i + 1
                /\ pc' = "L"
                /\ UNCHANGED << out, stack, a, b >>
           ELSE /\ out' = acc
                /\ pc' = Head(stack).pc
                /\ i' = Head(stack).i
                /\ acc' = Head(stack).acc
                /\ a' = Head(stack).a
                /\ b' = Head(stack).b
                /\ stack' = Tail(stack)

Mul == L

S == /\ pc = "S"
     /\ /\ a' = 2
        /\ b' = 3
        /\ stack' = << [ procedure |->  "Mul",
                         pc        |->  "Done",
                         i         |->  i,
                         acc       |->  acc,
                         a         |->  a,
                         b         |->  b ] >>
                     \o stack
     /\ i' = 0
     /\ acc' = 0
     /\ pc' = "L"
     /\ out' = out

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == pc = "Done" /\ UNCHANGED vars

Next == Mul \/ S
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(pc = "Done")

