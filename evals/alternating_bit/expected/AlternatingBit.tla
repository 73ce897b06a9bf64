---- MODULE AlternatingBit ----
(***************************************************************************)
(* The reference for the meter link, an alternating-bit protocol.  Each    *)
(* step of a station and each fault of the network is one step.  The       *)
(* sender is three processes here: accept, transmit, take an ack.          *)
(*                                                                         *)
(* The requirements Rn are the guarantees n of guarantees.md:              *)
(*   R1  delivered is a prefix of accepted                                 *)
(*   R2  at most one message is outstanding                                *)
(*   R3  what is confirmed has been delivered                              *)
(*   R4  no channel holds more than its capacity                           *)
(*   R5  the bits are equal when all that is delivered is confirmed        *)
(*   R6  a new frame brings the next message                               *)
(*   R7  a current acknowledgement speaks the truth                        *)
(*   R8  in each channel the bit changes at most once                      *)
(*   R9  nothing is taken back                                             *)
(*   R10 every accepted message is delivered in the end                    *)
(*   R11 every accepted message is confirmed in the end                    *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Messages,       \* the messages that the metering program may hand over
  MaxMessages,    \* bound of the model: how many messages are accepted
  Capacity,       \* how many items each channel can hold
  MaxLosses,      \* bound of the model: how many items are lost
  MaxDuplicates   \* bound of the model: how many items are doubled

ASSUME MaxMessages > 0 /\ Capacity > 0 /\ MaxLosses >= 0 /\ MaxDuplicates >= 0

\* The queue s without its k-th item, and with its k-th item doubled.
Without(s, k) == SubSeq(s, 1, k - 1) \o SubSeq(s, k + 1, Len(s))
Doubled(s, k) == SubSeq(s, 1, k) \o SubSeq(s, k, Len(s))

(* --algorithm AlternatingBit {
  variables
    accepted = <<>>;      \* all messages the sender took, in order
    delivered = <<>>;     \* all messages the receiver handed over, in order
    confirmed = 0;        \* how many messages the sender has confirmed
    sendBit = 0;
    recvBit = 0;
    dataChannel = <<>>;   \* the frames under way, the oldest first
    ackChannel = <<>>;    \* the acknowledgements under way, the oldest first
    losses = 0;
    duplicates = 0;

  process (program = "program")
  {
  Accept:
    while (TRUE) {
      either { \* accept
        await confirmed = Len(accepted) /\ Len(accepted) < MaxMessages;
        with (m \in Messages) {
          accepted := Append(accepted, m);
        }
      } or { \* the program has no more messages
        await confirmed = MaxMessages;
        skip;
      }
    }
  }

  fair process (transmitter = "transmitter")
  {
  Transmit:
    while (TRUE) {
      await Len(accepted) > confirmed /\ Len(dataChannel) < Capacity;
      dataChannel := Append(dataChannel, [bit |-> sendBit, msg |-> accepted[Len(accepted)]]);
    }
  }

  fair process (confirmer = "confirmer")
  {
  TakeAck:
    while (TRUE) {
      await ackChannel # <<>>;
      if (Len(accepted) > confirmed /\ Head(ackChannel) = sendBit) {
        confirmed := confirmed + 1;
        sendBit := 1 - sendBit;
      };
      ackChannel := Tail(ackChannel);
    }
  }

  fair process (receiver = "receiver")
  {
  Receive:
    while (TRUE) {
      await dataChannel # <<>> /\ Len(ackChannel) < Capacity;
      with (frame = Head(dataChannel)) {
        if (frame.bit = recvBit) {
          delivered := Append(delivered, frame.msg);
          recvBit := 1 - recvBit;
        };
        ackChannel := Append(ackChannel, frame.bit);
      };
      dataChannel := Tail(dataChannel);
    }
  }

  process (network = "network")
  {
  Disturb:
    while (TRUE) {
      either { \* lose a frame
        await losses < MaxLosses;
        with (k \in 1..Len(dataChannel)) {
          dataChannel := Without(dataChannel, k);
        };
        losses := losses + 1;
      } or { \* lose an acknowledgement
        await losses < MaxLosses;
        with (k \in 1..Len(ackChannel)) {
          ackChannel := Without(ackChannel, k);
        };
        losses := losses + 1;
      } or { \* double a frame
        await duplicates < MaxDuplicates /\ Len(dataChannel) < Capacity;
        with (k \in 1..Len(dataChannel)) {
          dataChannel := Doubled(dataChannel, k);
        };
        duplicates := duplicates + 1;
      } or { \* double an acknowledgement
        await duplicates < MaxDuplicates /\ Len(ackChannel) < Capacity;
        with (k \in 1..Len(ackChannel)) {
          ackChannel := Doubled(ackChannel, k);
        };
        duplicates := duplicates + 1;
      }
    }
  }
} *)
\* BEGIN TRANSLATION (chksum(pcal) = "3f0943eb" /\ chksum(tla) = "a37a1658")
VARIABLES accepted, delivered, confirmed, sendBit, recvBit, dataChannel, 
          ackChannel, losses, duplicates

vars == << accepted, delivered, confirmed, sendBit, recvBit, dataChannel, 
           ackChannel, losses, duplicates >>

ProcSet == {"program"} \cup {"transmitter"} \cup {"confirmer"} \cup {"receiver"} \cup {"network"}

Init == (* Global variables *)
        /\ accepted = <<>>
        /\ delivered = <<>>
        /\ confirmed = 0
        /\ sendBit = 0
        /\ recvBit = 0
        /\ dataChannel = <<>>
        /\ ackChannel = <<>>
        /\ losses = 0
        /\ duplicates = 0

program == /\ \/ /\ confirmed = Len(accepted) /\ Len(accepted) < MaxMessages
                 /\ \E m \in Messages:
                      accepted' = Append(accepted, m)
              \/ /\ confirmed = MaxMessages
                 /\ TRUE
                 /\ UNCHANGED accepted
           /\ UNCHANGED << delivered, confirmed, sendBit, recvBit, dataChannel, 
                           ackChannel, losses, duplicates >>

transmitter == /\ Len(accepted) > confirmed /\ Len(dataChannel) < Capacity
               /\ dataChannel' = Append(dataChannel, [bit |-> sendBit, msg |-> accepted[Len(accepted)]])
               /\ UNCHANGED << accepted, delivered, confirmed, sendBit, 
                               recvBit, ackChannel, losses, duplicates >>

confirmer == /\ ackChannel # <<>>
             /\ IF Len(accepted) > confirmed /\ Head(ackChannel) = sendBit
                   THEN /\ confirmed' = confirmed + 1
                        /\ sendBit' = 1 - sendBit
                   ELSE /\ TRUE
                        /\ UNCHANGED << confirmed, sendBit >>
             /\ ackChannel' = Tail(ackChannel)
             /\ UNCHANGED << accepted, delivered, recvBit, dataChannel, losses, 
                             duplicates >>

receiver == /\ dataChannel # <<>> /\ Len(ackChannel) < Capacity
            /\ LET frame == Head(dataChannel) IN
                 /\ IF frame.bit = recvBit
                       THEN /\ delivered' = Append(delivered, frame.msg)
                            /\ recvBit' = 1 - recvBit
                       ELSE /\ TRUE
                            /\ UNCHANGED << delivered, recvBit >>
                 /\ ackChannel' = Append(ackChannel, frame.bit)
            /\ dataChannel' = Tail(dataChannel)
            /\ UNCHANGED << accepted, confirmed, sendBit, losses, duplicates >>

network == /\ \/ /\ losses < MaxLosses
                 /\ \E k \in 1..Len(dataChannel):
                      dataChannel' = Without(dataChannel, k)
                 /\ losses' = losses + 1
                 /\ UNCHANGED <<ackChannel, duplicates>>
              \/ /\ losses < MaxLosses
                 /\ \E k \in 1..Len(ackChannel):
                      ackChannel' = Without(ackChannel, k)
                 /\ losses' = losses + 1
                 /\ UNCHANGED <<dataChannel, duplicates>>
              \/ /\ duplicates < MaxDuplicates /\ Len(dataChannel) < Capacity
                 /\ \E k \in 1..Len(dataChannel):
                      dataChannel' = Doubled(dataChannel, k)
                 /\ duplicates' = duplicates + 1
                 /\ UNCHANGED <<ackChannel, losses>>
              \/ /\ duplicates < MaxDuplicates /\ Len(ackChannel) < Capacity
                 /\ \E k \in 1..Len(ackChannel):
                      ackChannel' = Doubled(ackChannel, k)
                 /\ duplicates' = duplicates + 1
                 /\ UNCHANGED <<dataChannel, losses>>
           /\ UNCHANGED << accepted, delivered, confirmed, sendBit, recvBit >>

Next == program \/ transmitter \/ confirmer \/ receiver \/ network

Spec == /\ Init /\ [][Next]_vars
        /\ WF_vars(transmitter)
        /\ WF_vars(confirmer)
        /\ WF_vars(receiver)

\* END TRANSLATION 


Bits == {0, 1}

\* covers R4
TypeOK ==
  /\ accepted \in Seq(Messages) /\ Len(accepted) <= MaxMessages
  /\ delivered \in Seq(Messages) /\ Len(delivered) <= MaxMessages
  /\ confirmed \in 0..MaxMessages
  /\ sendBit \in Bits
  /\ recvBit \in Bits
  /\ dataChannel \in Seq([bit : Bits, msg : Messages]) /\ Len(dataChannel) <= Capacity
  /\ ackChannel \in Seq(Bits) /\ Len(ackChannel) <= Capacity
  /\ losses \in 0..MaxLosses
  /\ duplicates \in 0..MaxDuplicates

\* covers R1
DeliveredIsPrefix ==
  /\ Len(delivered) <= Len(accepted)
  /\ \A i \in 1..Len(delivered) : delivered[i] = accepted[i]

\* covers R2
AtMostOneOutstanding == Len(accepted) - confirmed \in {0, 1}

\* covers R3
ConfirmedIsDelivered == confirmed <= Len(delivered)

\* covers R4
ChannelsBounded == Len(dataChannel) <= Capacity /\ Len(ackChannel) <= Capacity

\* covers R5
BitsAgree == (sendBit = recvBit) <=> (Len(delivered) = confirmed)

\* covers R6
NewFrameCarriesNext ==
  \A i \in 1..Len(dataChannel) :
    dataChannel[i].bit = recvBit =>
      /\ Len(delivered) < Len(accepted)
      /\ dataChannel[i].msg = accepted[Len(delivered) + 1]

\* covers R7
CurrentAckIsTrue ==
  (\E i \in 1..Len(ackChannel) : ackChannel[i] = sendBit) =>
    /\ Len(accepted) = confirmed + 1
    /\ Len(delivered) >= Len(accepted)

\* covers R8
OneChangePerChannel ==
  /\ Cardinality({i \in 2..Len(dataChannel) : dataChannel[i].bit # dataChannel[i - 1].bit}) <= 1
  /\ Cardinality({i \in 2..Len(ackChannel) : ackChannel[i] # ackChannel[i - 1]}) <= 1

\* covers R9
NothingTakenBack ==
  [][/\ Len(accepted') >= Len(accepted)
     /\ SubSeq(accepted', 1, Len(accepted)) = accepted
     /\ Len(delivered') >= Len(delivered)
     /\ SubSeq(delivered', 1, Len(delivered)) = delivered
     /\ confirmed' >= confirmed]_<<accepted, delivered, confirmed>>

\* covers R10
EveryMessageDelivered ==
  \A n \in 1..MaxMessages : (Len(accepted) >= n) ~> (Len(delivered) >= n)

\* covers R11
EveryMessageConfirmed ==
  \A n \in 1..MaxMessages : (Len(accepted) >= n) ~> (confirmed >= n)

\* All messages went through although the network lost and doubled all it could.
WitnessAllThrough ==
  confirmed = MaxMessages /\ losses = MaxLosses /\ duplicates = MaxDuplicates

\* Two equal messages in a row were delivered.
WitnessEqualMessages == Len(delivered) >= 2 /\ delivered[1] = delivered[2]

\* An old frame is under way after a later message was accepted.
WitnessOldFrame ==
  /\ Len(accepted) > confirmed
  /\ \E i \in 1..Len(dataChannel) : dataChannel[i].bit # sendBit

\* An old acknowledgement meets an outstanding message that is not delivered.
WitnessOldAck ==
  /\ Len(accepted) > Len(delivered)
  /\ ackChannel # <<>>

\* A delivered message has to be repeated, since its acknowledgement was lost.
WitnessAckLost ==
  /\ Len(delivered) = confirmed + 1
  /\ dataChannel = <<>> /\ ackChannel = <<>>

====
