# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A network described layer by layer: the cost of its samples, and the consequences for a device.
cat >network.json <<'END'
{
  // 4 channels at 512 x 512 x 512 in 32 bits
  "name": "a small CosmoFlow",
  "facts": {
    "gpu.memory_total_bytes": "16GB",
    "model.operations_per_s": 5e12,
    "link.bytes_per_s": "20GB/s",
    "link.latency_ns": "10us"
  },
  "network": { "layers": [
    { "kind": "conv", "in": [4, 512, 512, 512], "out": 16, "kernel": 3 },
    { "kind": "pool", "in": [16, 512, 512, 512], "kernel": 2, "stride": 2 },
    { "kind": "conv", "in": [16, 256, 256, 256], "out": 32, "kernel": 3 },
    { "kind": "pool", "in": [32, 256, 256, 256], "kernel": 2, "stride": 2 },
    { "kind": "conv", "in": [32, 128, 128, 128], "out": 64, "kernel": 3 },
    { "kind": "pool", "in": [64, 128, 128, 128], "kernel": 2, "stride": 2 },
    { "kind": "dense", "in": [2048], "out": 4 }
  ] }
}
END
trainprof advise network.json | sed -n '/^1\./,/^  because/p'
# On a slow link the halos take longer than the slabs: it is not split.
sed 's|20GB/s|100MB/s|' network.json >slow.json
trainprof advise slow.json | sed -n '/^1\./,/^  because/p'
# On a device with enough memory there is no advice.
sed 's|16GB|80GB|' network.json | trainprof advise - >roomy
echo "status $?"
grep -c gpu/ roomy
sed 's|"in": \[2048\]|"in": [2048, 2]|' network.json >shape.json
sed 's|"stride": 2|"strides": 2|' network.json >key.json
for file in shape.json key.json; do
	trainprof advise $file
	echo "status $?"
done
trainprof advise --template recipe | grep '"model'
