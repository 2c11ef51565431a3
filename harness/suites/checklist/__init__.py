"""CheckList: behavioural tests written by hand (Ribeiro et al. 2020)."""
