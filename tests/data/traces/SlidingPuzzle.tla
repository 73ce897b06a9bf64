---- MODULE SlidingPuzzle ----
\* Klotski: a set of pieces, each a set of places. Every state is one big value, of which a step changes one element.
EXTENDS Integers
VARIABLE board
W == 4
H == 5
Pos == (0 .. W - 1) \X (0 .. H - 1)
Klotski == {{<<0, 0>>, <<0, 1>>}, {<<1, 0>>, <<2, 0>>, <<1, 1>>, <<2, 1>>}, {<<3, 0>>, <<3, 1>>},
            {<<0, 2>>, <<0, 3>>}, {<<1, 2>>, <<2, 2>>}, {<<3, 2>>, <<3, 3>>},
            {<<1, 3>>}, {<<2, 3>>}, {<<0, 4>>}, {<<3, 4>>}}
Goal == \A piece \in board : piece # {<<1, 3>>, <<2, 3>>}
Dirs == {<<1, 0>>, <<0, 1>>, <<-1, 0>>, <<0, -1>>}
Moved(piece, d) == {<<place[1] + d[1], place[2] + d[2]>> : place \in piece}
Init == board = Klotski
Move(piece, d) == /\ Moved(piece, d) \subseteq Pos
                  /\ Moved(piece, d) \cap UNION (board \ {piece}) = {}
                  /\ board' = (board \ {piece}) \cup {Moved(piece, d)}
Next == \E piece \in board, d \in Dirs : Move(piece, d)
Spec == Init /\ [][Next]_board
====
