"""The neurons of a text classifier, observed through forward hooks (extra ``[transformers]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import ModelError
from harness.models.classifier import Labels, load_network
from harness.models.model_files import Files, check_installed, one_line

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

PREFIX = "transformers:"


class Neurons:
    """The network of ``transformers:NAME_OR_FOLDER``. Raises ``ModelError`` where it does not load.

    A neuron is one output of a linear layer (queries, keys, values, feed-forward layers, the head), before
    any activation; its output on a text is the mean over the text's tokens, as DeepGauge takes the mean of a
    feature map. Texts are read one by one, without padding, so that a neuron's output depends on the text
    alone.
    """

    def __init__(self, name: str) -> None:
        source = name.removeprefix(PREFIX)
        check_installed(source)
        self._files = Files(source, None)
        self.name = self._files.name
        Labels(self._files)  # raises for a model that is no classifier
        self._network = load_network(self._files)
        self._seen: list[torch.Tensor] = []
        self._size: int | None = None
        for module in self._network.modules():
            if _linear(module):
                module.register_forward_hook(self._keep)

    def outputs(self, text: str) -> NDArray[np.float32] | None:
        """Return the output of each neuron, always in the same order; None for a text that is too long.

        Raises ``ModelError`` where the network fails or has other neurons than for an earlier text.
        """
        import torch

        encoding, limit = self._files.encode(text), self._files.context
        if limit is not None and len(encoding["input_ids"]) > limit:
            return None
        device = self._network.device
        self._seen.clear()
        try:
            with torch.inference_mode():
                self._network(**{key: torch.tensor([ids], device=device) for key, ids in encoding.items()})
        except (RuntimeError, ValueError, IndexError) as error:
            raise ModelError(f"{self.name}: {one_line(error)}") from error
        vector = torch.cat(self._seen)
        if self._size not in (None, len(vector)):
            raise ModelError(f"{self.name}: it has other neurons for other texts: coverage is not defined")
        self._size = len(vector)
        outputs: NDArray[np.float32] = vector.float().cpu().numpy()
        return outputs

    def _keep(self, module: torch.nn.Module, inputs: object, output: torch.Tensor) -> None:
        self._seen.append(output.reshape(-1, output.shape[-1]).mean(dim=0))


def _linear(module: torch.nn.Module) -> bool:
    """Return whether ``module`` is a linear layer; models like GPT-2 call theirs Conv1D."""
    import torch

    return isinstance(module, torch.nn.Linear) or type(module).__name__ == "Conv1D"
