---- MODULE flip_on_every_frame ----
\* BUG: the receiver flips the expected bit at every frame, also at a repetition, and
\* is then ready to deliver the old message again.
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS
  Messages,       \* the messages that the metering program may hand over
  MaxMessages,    \* bound of the model: how many messages are accepted
  Capacity,       \* how many items each channel can hold
  MaxLosses,      \* bound of the model: how many items are lost
  MaxDuplicates   \* bound of the model: how many items are doubled

\* The queue s without its k-th item, and with its k-th item doubled.
Without(s, k) == SubSeq(s, 1, k - 1) \o SubSeq(s, k + 1, Len(s))
Doubled(s, k) == SubSeq(s, 1, k) \o SubSeq(s, k, Len(s))

(* --algorithm flip_on_every_frame {
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
          if (Len(delivered) <= MaxMessages) { \* bound of the model: one too many is enough
            delivered := Append(delivered, frame.msg);
          };
        };
        recvBit := 1 - recvBit;
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
\* BEGIN TRANSLATION (chksum(pcal) = "96a5831" /\ chksum(tla) = "c8567696")
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
                       THEN /\ IF Len(delivered) <= MaxMessages
                                  THEN /\ delivered' = Append(delivered, frame.msg)
                                  ELSE /\ TRUE
                                       /\ UNCHANGED delivered
                       ELSE /\ TRUE
                            /\ UNCHANGED delivered
                 /\ recvBit' = 1 - recvBit
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


====
