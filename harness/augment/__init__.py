"""Counterfactual rows for training: each text's versions with its gold label, in balance over the groups."""
