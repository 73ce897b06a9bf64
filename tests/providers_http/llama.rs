//! The real llama.cpp server with a tiny random model: the wire as it is, whatever the model says.
