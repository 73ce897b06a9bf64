"""Serves a GGUF model with llama.cpp's own HTTP server on loopback: serve.py MODEL.gguf PORT

It prints its address once it listens, and ends when its standard input does.
"""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.port = int(sys.argv[2])
# Noise ends by chance after some hundred tokens; a whole request of a run fits.
params.n_ctx, params.n_parallel, params.n_gpu_layers, params.n_predict = 131072, 2, 0, 8000
params.use_jinja, params.offline, params.warmup = True, True, False
# Threads that wait for each other make a model this small slower by two orders on a busy machine.
params.cpuparams.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
