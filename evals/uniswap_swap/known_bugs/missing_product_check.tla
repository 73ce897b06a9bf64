---- MODULE missing_product_check ----
\* BUG: the product is not checked, and the output is rounded up instead of
\* down, so a swap can take more out of the pool than its input is worth.
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Traders,        \* the traders
  InitReserveX,   \* what the pool holds of X at the start
  InitReserveY,   \* what the pool holds of Y at the start
  InitBalanceX,   \* what each trader holds of X at the start
  InitBalanceY,   \* what each trader holds of Y at the start
  MaxAmount,      \* bound of the model: the largest amount a request names
  MaxRequests     \* bound of the model: requests each trader sends

\* The same, rounded up.
QuoteUp(reserveIn, reserveOut, amountIn) ==
  (reserveOut * amountIn + reserveIn + amountIn - 1) \div (reserveIn + amountIn)

(* --algorithm missing_product_check {
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
        with (amountIn \in 1..MaxAmount, amountOut = QuoteUp(reserveX, reserveY, amountIn)) {
          if (/\ amountIn <= balanceX[self]
              /\ amountOut > 0
              /\ amountOut < reserveY) {
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
        with (amountIn \in 1..MaxAmount, amountOut = QuoteUp(reserveY, reserveX, amountIn)) {
          if (/\ amountIn <= balanceY[self]
              /\ amountOut > 0
              /\ amountOut < reserveX) {
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

\* BEGIN TRANSLATION PCal-b26466b7c48f92de78c267aa528a924a
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
                                    LET amountOut == QuoteUp(reserveX, reserveY, amountIn) IN
                                      IF /\ amountIn <= balanceX[self]
                                         /\ amountOut > 0
                                         /\ amountOut < reserveY
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
                                    LET amountOut == QuoteUp(reserveY, reserveX, amountIn) IN
                                      IF /\ amountIn <= balanceY[self]
                                         /\ amountOut > 0
                                         /\ amountOut < reserveX
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

\* END TRANSLATION TLA-761a9d2c082a1e027eb6312aa9986cee

====
