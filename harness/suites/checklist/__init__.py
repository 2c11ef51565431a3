"""CheckList: behavioural tests, bundled or of a file (Ribeiro et al. 2020)."""
