"""BiasFinder: bias-uncovering test cases from templates mined in real texts (Asyrofi et al. 2021)."""
