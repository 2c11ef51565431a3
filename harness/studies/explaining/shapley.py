"""Contributions as Shapley values, by the kernel method of the library ``shap`` (extra ``[shap]``).

Lundberg and Lee, A unified approach to interpreting model predictions (2017).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from threading import Lock

from harness.answering.reading import Reading
from harness.errors import ModelError
from harness.studies.explaining.answers import Answer, Ask
from harness.studies.explaining.masking import Masking
from harness.studies.explaining.occlusion import Contributions

SAMPLES_A_UNIT = 4
LEAST_SAMPLES = 64
SEED = 0

_drawing = Lock()  # shap draws from NumPy's one global state: seeded, the same maskings are cached


def check() -> None:
    """Check that ``shap`` is installed. Raises ``ModelError`` where it is not."""
    if find_spec("shap") is None:
        raise ModelError("the method shap needs shap: pip install 'hinter-harness[shap]'")


async def shapley(ask: Ask, masking: Masking, answer: Answer) -> Contributions:
    """Return the Shapley values, from maskings that ``shap`` draws: about four requests a unit, at least 64.

    In log-odds where those of the whole text are known, or in units of the rating; else by the answer alone.
    """
    (whole,) = await ask([masking.text])
    measure, strength = answer.scale(whole)
    loop = asyncio.get_running_loop()

    def values(rows: Sequence[Sequence[float]]) -> list[float]:
        """Return the strength of each masking; called in a thread, in which ``shap`` waits for answers."""
        texts = [masking.only({unit for unit, is_visible in enumerate(row) if is_visible}) for row in rows]
        readings = asyncio.run_coroutine_threadsafe(_all(ask, texts), loop).result()
        return [strength(reading) for reading in readings]

    return Contributions(measure, await asyncio.to_thread(_explained, values, len(masking)))


async def _all(ask: Ask, texts: Sequence[str]) -> Sequence[Reading]:
    return await ask(texts)


def _explained(values: Callable[[Sequence[Sequence[float]]], list[float]], units: int) -> list[float]:
    """Return the Shapley value of the presence of each unit."""
    if not units:
        return []
    import numpy as np
    import shap

    explainer = shap.KernelExplainer(
        lambda rows: np.asarray(values(np.asarray(rows).tolist())), np.zeros((1, units))
    )
    samples = max(LEAST_SAMPLES, SAMPLES_A_UNIT * units)
    with _drawing:
        state = np.random.get_state()
        np.random.seed(SEED)
        try:
            contributions = explainer.shap_values(np.ones(units), nsamples=samples, l1_reg=False, silent=True)
        finally:
            np.random.set_state(state)
    return [float(value) for value in contributions]
