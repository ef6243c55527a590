"""Check the demo's JSON: all three pieces of evidence, the last by expansion; targeted ahead of the others."""

import json
import sys
from pathlib import Path

demo = json.loads(Path(sys.argv[1]).read_text())
found = {key: item for key in ("E1", "E2", "E3") for item in demo["evidence"] if item["piece"] == key}
assert set(found) == {"E1", "E2", "E3"}, f"evidence holds {sorted(found)} of E1, E2, E3"
assert "expansion" in found["E3"]["found_by"], f"E3 was found by {found['E3']['found_by']}"
rates = demo["stories"]
assert rates["ripple"] > max(rates["one_shot"], rates["undirected"]), f"story rates: {rates}"
print("demo: E1, E2 and E3 found, E3 by expansion; stories", rates)
