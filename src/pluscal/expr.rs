//! A TLA+ expression as the tokens it is written with, line by line with their columns, so that lists of conjuncts keep
//! their alignment wherever the expression is put.
