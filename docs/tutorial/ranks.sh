#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts the given command as two ranks, with the variables that torchrun sets, and waits for both.
export WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT="${MASTER_PORT:-29511}"
RANK=0 LOCAL_RANK=0 "$@" &
RANK=1 LOCAL_RANK=1 "$@"
wait
