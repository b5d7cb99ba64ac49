"""llama.cpp's server on a loopback port: `python llama_server.py MODEL.gguf`. Prints its address, runs until killed."""

import sys
import time

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.port = 0
parameters.n_ctx, parameters.n_parallel, parameters.n_predict = 16384, 2, 64
parameters.warmup, parameters.offline, parameters.verbosity = False, True, 0
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(parameters)
print("LISTENING", server.listening_address, flush=True)
while True:
    time.sleep(1)
