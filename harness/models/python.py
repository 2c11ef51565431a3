"""``python:package.module:function``: a user's function as the system under test.

The name of the function's first parameter decides what it receives: ``request`` (the whole ``Request``),
``messages`` (a list of {role, content}), ``prompt`` (the last user turn); with any other name, the bare text.
It returns a string or a ``Reply``, and may be async.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping

from harness import functions
from harness.core import Capabilities, Failure, Reply, Request
from harness.errors import ModelError
from harness.plugins import Model, ModelPlugin, Options

View = Callable[[Request], "str | Request | list[dict[str, str]]"]
VIEWS: Mapping[str, View] = {
    "request": lambda request: request,
    "messages": lambda request: [{"role": m.role, "content": m.content} for m in request.messages],
    "prompt": lambda request: request.messages[-1].content,
}
"""What a function gets whose first parameter has this name. Any other gets the bare text, no prompt."""
Function = Callable[..., "str | Reply | Failure | Awaitable[str | Reply | Failure]"]


class FunctionModel(Model):
    """Wraps ``function``; its module's source is part of the identity, so that edited code is asked again."""

    concurrency = 8

    def __init__(self, name: str, function: Function) -> None:
        self.name = name
        self.identity = {"kind": "python", "name": name, "source": functions.source(function)}
        self._function = function
        self._view = _view(function, name)
        self.capabilities = Capabilities(choices=True, chat=_first_parameter(function, name) in VIEWS)

    async def answer(self, request: Request) -> Reply | Failure:
        """Call the function; an exception in it is a ``Failure``. Raises ``ModelError`` for a wrong type."""
        try:
            answer = self._function(self._view(request))
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:  # a bad answer is data, whatever the user's function did
            return Failure("failed", f"{type(error).__name__}: {error}")
        if isinstance(answer, str):
            return Reply(text=answer, model=self.name)
        if isinstance(answer, Reply | Failure):
            return answer
        raise ModelError(f"{self.name} returned {type(answer).__name__}, not a string or a Reply")


def load(path: str) -> FunctionModel:
    """Import the function named ``package.module:function``. Raises ``ModelError``."""
    return FunctionModel(f"{functions.PREFIX}{path}", functions.load(path, ModelError))


def _view(function: Function, name: str) -> View:
    return VIEWS.get(_first_parameter(function, name), lambda request: request.text)


def _first_parameter(function: Function, name: str) -> str:
    parameters = list(inspect.signature(function).parameters)
    if not parameters:
        raise ModelError(f"{name} must take one parameter")
    return parameters[0]


plugin = ModelPlugin(
    name="python",
    about="a function of your own",
    options=Options,
    make=lambda options, kit: load(kit.name),
    lists={"python:package.module:function": "a function of your own"},
)
