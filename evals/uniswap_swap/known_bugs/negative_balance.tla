---- MODULE negative_balance ----
\* BUG: the pool does not ask whether the trader holds the input amount,
\* so a trader can pay with tokens that he does not have.
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

(* --algorithm negative_balance {
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
          if (/\ amountOut > 0
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
          if (/\ amountOut > 0
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

\* BEGIN TRANSLATION PCal-30c0adba4b60558d02a1428fc18b3f5e
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
                                      IF /\ amountOut > 0
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
                                      IF /\ amountOut > 0
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

\* END TRANSLATION TLA-dff45ce208bdf657dc449ed6b1ce459f

====
