"""Serves a GGUF model with llama.cpp's own HTTP server on loopback: serve.py MODEL.gguf PORT

It prints its address once it listens, and ends when its standard input does.
"""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.port = int(sys.argv[2])
params.n_ctx, params.n_parallel, params.n_gpu_layers, params.n_predict = 32768, 2, 0, 200
params.use_jinja, params.offline, params.warmup = True, True, False
params.cpuparams.n_threads = 2
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
