"""MT-NLP: one person noun replaced at a time (Ma, Wang and Liu 2020), the baseline of BiasFinder."""
