---- MODULE OrderedForks ----
(* Dining philosophers who take the lower fork first. Shows: c-syntax, a
   procedure and its stack, strong fairness for contended locks, a label
   without fairness.
   R1  Neighbours never eat at the same time.
   R2  Nobody who waits for a fork holds that fork or a higher one.
   R3  A hungry philosopher eats in the end; nobody need ever be hungry.
   Atomicity: a step for each fork taken, as others run between; both are put
   down in one step, as that never waits.
   A procedure costs a stack and a return: use one where the protocol has such
   a routine, else a macro. A first value for its parameter saves the constant
   defaultInitValue.
   No SYMMETRY: forks are ordered, and a temporal property is checked. *)
EXTENDS Naturals, Sequences

CONSTANT MAX_SEAT

Seats == 1..MAX_SEAT            \* philosopher p sits between forks p and Right(p)
Right(p) == (p % MAX_SEAT) + 1
Low(p) == IF p < Right(p) THEN p ELSE Right(p)
High(p) == IF p < Right(p) THEN Right(p) ELSE p

(* --algorithm OrderedForks {
  variable holder = [f \in Seats |-> 0];      \* 0: on the table

  procedure take(fork = 1) {
    grab:
      await holder[fork] = 0;
      holder[fork] := self;
      return;
  }

  fair+ process (phil \in Seats) {
    think:-                                   \* "-": may stay here for ever
      while (TRUE) {
        call take(Low(self));
    second:
        call take(High(self));
    eat:
        holder := [f \in Seats |-> IF holder[f] = self THEN 0 ELSE holder[f]];
      }
  }
} *)
\* BEGIN TRANSLATION - the hash of the PCal code: PCal-967f7bec4f73a81e194859c406300143
VARIABLES holder, pc, stack, fork

vars == << holder, pc, stack, fork >>

ProcSet == (Seats)

Init == (* Global variables *)
        /\ holder = [f \in Seats |-> 0]
        (* Procedure take *)
        /\ fork = [ self \in ProcSet |-> 1]
        /\ stack = [self \in ProcSet |-> << >>]
        /\ pc = [self \in ProcSet |-> "think"]

grab(self) == /\ pc[self] = "grab"
              /\ holder[fork[self]] = 0
              /\ holder' = [holder EXCEPT ![fork[self]] = self]
              /\ pc' = [pc EXCEPT ![self] = Head(stack[self]).pc]
              /\ fork' = [fork EXCEPT ![self] = Head(stack[self]).fork]
              /\ stack' = [stack EXCEPT ![self] = Tail(stack[self])]

take(self) == grab(self)

think(self) == /\ pc[self] = "think"
               /\ /\ fork' = [fork EXCEPT ![self] = Low(self)]
                  /\ stack' = [stack EXCEPT ![self] = << [ procedure |->  "take",
                                                           pc        |->  "second",
                                                           fork      |->  fork[self] ] >>
                                                       \o stack[self]]
               /\ pc' = [pc EXCEPT ![self] = "grab"]
               /\ UNCHANGED holder

second(self) == /\ pc[self] = "second"
                /\ /\ fork' = [fork EXCEPT ![self] = High(self)]
                   /\ stack' = [stack EXCEPT ![self] = << [ procedure |->  "take",
                                                            pc        |->  "eat",
                                                            fork      |->  fork[self] ] >>
                                                        \o stack[self]]
                /\ pc' = [pc EXCEPT ![self] = "grab"]
                /\ UNCHANGED holder

eat(self) == /\ pc[self] = "eat"
             /\ holder' = [f \in Seats |-> IF holder[f] = self THEN 0 ELSE holder[f]]
             /\ pc' = [pc EXCEPT ![self] = "think"]
             /\ UNCHANGED << stack, fork >>

phil(self) == think(self) \/ second(self) \/ eat(self)

Next == (\E self \in ProcSet: take(self))
           \/ (\E self \in Seats: phil(self))

Spec == /\ Init /\ [][Next]_vars
        /\ \A self \in Seats : SF_vars((pc[self] # "think") /\ phil(self)) /\ SF_vars(take(self))

\* END TRANSLATION - the hash of the generated TLA code (remove to silence divergence warnings): TLA-5ead212d6d7126c3a6446877b57867f1

Frame(back) == <<[procedure |-> "take", pc |-> back, fork |-> 1]>>

\* the type of every variable
TypeOK == /\ holder \in [Seats -> 0..MAX_SEAT]
          /\ fork \in [Seats -> Seats]
          /\ stack \in [Seats -> {<<>>, Frame("second"), Frame("eat")}]
          /\ pc \in [Seats -> {"think", "grab", "second", "eat"}]

\* covers R1
NeighboursDoNotEat == \A p \in Seats : pc[p] = "eat" => pc[Right(p)] # "eat"

\* covers R2
TakenInOrder == \A p, f \in Seats : pc[p] = "grab" /\ holder[f] = p => f < fork[p]

\* covers R3
EatsInTheEnd == \A p \in Seats : pc[p] = "grab" ~> pc[p] = "eat"

\* everybody is hungry, and somebody holds one fork and waits for the other
WitnessAllHungry == /\ \A p \in Seats : pc[p] = "grab"
                    /\ \E p \in Seats : stack[p] = Frame("eat")
====
