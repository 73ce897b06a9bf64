---- MODULE Swap ----
(***************************************************************************)
(* The reference for the swap pool.  One request of a trader is one step.  *)
(*                                                                         *)
(* The requirements, and where the documents state them:                   *)
(*   R1  guarantees.md 1  whole, non-negative, bounded amounts             *)
(*   R2  guarantees.md 2  the product never decreases                      *)
(*   R3  guarantees.md 3  no token appears or disappears                   *)
(*   R4  guarantees.md 4  nobody receives a token without paying           *)
(*   R5  guarantees.md 5  both reserves stay positive                      *)
(*   R6  guarantees.md 6  a refused request changes nothing                *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Traders,        \* the traders
  InitReserveX,   \* what the pool holds of X at the start
  InitReserveY,   \* what the pool holds of Y at the start
  InitBalanceX,   \* what each trader holds of X at the start
  InitBalanceY,   \* what each trader holds of Y at the start
  MaxAmount,      \* bound of the model: the largest amount a request names
  MaxRequests     \* bound of the model: requests each trader sends

\* The output for amountIn, rounded down.
Quote(reserveIn, reserveOut, amountIn) ==
  (reserveOut * amountIn) \div (reserveIn + amountIn)

RECURSIVE SumOver(_, _)
SumOver(f, S) ==
  IF S = {} THEN 0
  ELSE LET t == CHOOSE s \in S : TRUE IN f[t] + SumOver(f, S \ {t})

SupplyX == InitReserveX + Cardinality(Traders) * InitBalanceX
SupplyY == InitReserveY + Cardinality(Traders) * InitBalanceY

ASSUME /\ InitReserveX > 0 /\ InitReserveY > 0
       /\ InitBalanceX >= 0 /\ InitBalanceY >= 0
       /\ MaxAmount > 0 /\ MaxRequests > 0

(* --algorithm Swap {
  variables
    reserveX = InitReserveX,
    reserveY = InitReserveY,
    balanceX = [t \in Traders |-> InitBalanceX],
    balanceY = [t \in Traders |-> InitBalanceY],
    outcome = [t \in Traders |-> "none"];

  process (trader \in Traders)
    variable requests = 0;
  {
  Swap:
    while (requests < MaxRequests) {
      requests := requests + 1;
      either { \* X for Y
        with (amountIn \in 1..MaxAmount, amountOut = Quote(reserveX, reserveY, amountIn)) {
          if (/\ amountIn <= balanceX[self]
              /\ amountOut > 0
              /\ amountOut < reserveY
              /\ (reserveX + amountIn) * (reserveY - amountOut) >= reserveX * reserveY) {
            balanceX[self] := balanceX[self] - amountIn;
            reserveX := reserveX + amountIn;
            reserveY := reserveY - amountOut;
            balanceY[self] := balanceY[self] + amountOut;
            outcome[self] := "done";
          } else {
            outcome[self] := "refused";
          }
        }
      }
      or { \* Y for X
        with (amountIn \in 1..MaxAmount, amountOut = Quote(reserveY, reserveX, amountIn)) {
          if (/\ amountIn <= balanceY[self]
              /\ amountOut > 0
              /\ amountOut < reserveX
              /\ (reserveY + amountIn) * (reserveX - amountOut) >= reserveY * reserveX) {
            balanceY[self] := balanceY[self] - amountIn;
            reserveY := reserveY + amountIn;
            reserveX := reserveX - amountOut;
            balanceX[self] := balanceX[self] + amountOut;
            outcome[self] := "done";
          } else {
            outcome[self] := "refused";
          }
        }
      }
    }
  }
} *)

\* BEGIN TRANSLATION PCal-77dcdc7bb155acb49d0ee8114e1ae623
VARIABLES reserveX, reserveY, balanceX, balanceY, outcome, pc, requests

vars == << reserveX, reserveY, balanceX, balanceY, outcome, pc, requests >>

ProcSet == (Traders)

Init == (* Global variables *)
        /\ reserveX = InitReserveX
        /\ reserveY = InitReserveY
        /\ balanceX = [t \in Traders |-> InitBalanceX]
        /\ balanceY = [t \in Traders |-> InitBalanceY]
        /\ outcome = [t \in Traders |-> "none"]
        (* Process trader *)
        /\ requests = [self \in Traders |-> 0]
        /\ pc = [self \in ProcSet |-> "Swap"]

Swap(self) == /\ pc[self] = "Swap"
              /\ IF requests[self] < MaxRequests
                    THEN /\ requests' = [requests EXCEPT ![self] = requests[self] + 1]
                         /\ \/ /\ \E amountIn \in 1..MaxAmount:
                                    LET amountOut == Quote(reserveX, reserveY, amountIn) IN
                                      IF /\ amountIn <= balanceX[self]
                                         /\ amountOut > 0
                                         /\ amountOut < reserveY
                                         /\ (reserveX + amountIn) * (reserveY - amountOut) >= reserveX * reserveY
                                         THEN /\ balanceX' = [balanceX EXCEPT ![self] = balanceX[self] - amountIn]
                                              /\ reserveX' = reserveX + amountIn
                                              /\ reserveY' = reserveY - amountOut
                                              /\ balanceY' = [balanceY EXCEPT ![self] = balanceY[self] + amountOut]
                                              /\ outcome' = [outcome EXCEPT ![self] = "done"]
                                         ELSE /\ outcome' = [outcome EXCEPT ![self] = "refused"]
                                              /\ UNCHANGED << reserveX, 
                                                              reserveY, 
                                                              balanceX, 
                                                              balanceY >>
                            \/ /\ \E amountIn \in 1..MaxAmount:
                                    LET amountOut == Quote(reserveY, reserveX, amountIn) IN
                                      IF /\ amountIn <= balanceY[self]
                                         /\ amountOut > 0
                                         /\ amountOut < reserveX
                                         /\ (reserveY + amountIn) * (reserveX - amountOut) >= reserveY * reserveX
                                         THEN /\ balanceY' = [balanceY EXCEPT ![self] = balanceY[self] - amountIn]
                                              /\ reserveY' = reserveY + amountIn
                                              /\ reserveX' = reserveX - amountOut
                                              /\ balanceX' = [balanceX EXCEPT ![self] = balanceX[self] + amountOut]
                                              /\ outcome' = [outcome EXCEPT ![self] = "done"]
                                         ELSE /\ outcome' = [outcome EXCEPT ![self] = "refused"]
                                              /\ UNCHANGED << reserveX, 
                                                              reserveY, 
                                                              balanceX, 
                                                              balanceY >>
                         /\ pc' = [pc EXCEPT ![self] = "Swap"]
                    ELSE /\ pc' = [pc EXCEPT ![self] = "Done"]
                         /\ UNCHANGED << reserveX, reserveY, balanceX, 
                                         balanceY, outcome, requests >>

trader(self) == Swap(self)

(* Allow infinite stuttering to prevent deadlock on termination. *)
Terminating == /\ \A self \in ProcSet: pc[self] = "Done"
               /\ UNCHANGED vars

Next == (\E self \in Traders: trader(self))
           \/ Terminating

Spec == Init /\ [][Next]_vars

Termination == <>(\A self \in ProcSet: pc[self] = "Done")

\* END TRANSLATION TLA-30f8af97d8cb12e1540e2a32be5d9c14

\* covers R1
TypeOK ==
  /\ reserveX \in 0..SupplyX
  /\ reserveY \in 0..SupplyY
  /\ balanceX \in [Traders -> 0..SupplyX]
  /\ balanceY \in [Traders -> 0..SupplyY]
  /\ outcome \in [Traders -> {"none", "done", "refused"}]
  /\ requests \in [Traders -> 0..MaxRequests]
  /\ pc \in [Traders -> {"Swap", "Done"}]

\* covers R2
ConstantProduct == reserveX * reserveY >= InitReserveX * InitReserveY

\* covers R3
ConservationOfTokens ==
  /\ reserveX + SumOver(balanceX, Traders) = SupplyX
  /\ reserveY + SumOver(balanceY, Traders) = SupplyY

\* covers R1
NonNegativeBalances ==
  \A t \in Traders : balanceX[t] >= 0 /\ balanceY[t] >= 0

\* covers R5
PositiveReserves == reserveX > 0 /\ reserveY > 0

\* covers R2
ProductNeverDecreases ==
  [][reserveX' * reserveY' >= reserveX * reserveY]_<<reserveX, reserveY>>

\* covers R4
NoFreeTokens ==
  [][\A t \in Traders :
       /\ balanceX'[t] > balanceX[t] => balanceY'[t] < balanceY[t]
       /\ balanceY'[t] > balanceY[t] => balanceX'[t] < balanceX[t]]_<<balanceX, balanceY>>

\* covers R6
RefusedChangesNothing ==
  [][\A t \in Traders :
       requests'[t] # requests[t] /\ outcome'[t] = "refused"
         => UNCHANGED <<reserveX, reserveY, balanceX, balanceY>>]_vars

\* A swap of X for Y took place.
WitnessBoughtY == \E t \in Traders : balanceY[t] > InitBalanceY

\* A swap of Y for X took place.
WitnessBoughtX == \E t \in Traders : balanceX[t] > InitBalanceX

\* Rounding left something in the pool.
WitnessProductGrew == reserveX * reserveY > InitReserveX * InitReserveY

\* A request was refused after a swap had changed the reserves.
WitnessRefused ==
  (\E t \in Traders : outcome[t] = "refused") /\ reserveX # InitReserveX

====
