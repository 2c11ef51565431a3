"""S²LCT: linguistic capabilities by searched seeds and their expansions (ASE 2022)."""
