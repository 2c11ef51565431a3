"""``python:package.module:function``: a user's function as the system under test.

The name of the function's first parameter decides what it receives: ``request`` (the whole ``Request``),
``messages`` (a list of {role, content}), ``prompt`` (the last user turn); with any other name, the bare text.
It returns a string or a ``Reply``, and may be async.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import sysconfig
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from pathlib import Path
from types import ModuleType

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
        self.identity = {"kind": "python", "name": name, "source": _source(function)}
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
    module_name, _, function_name = path.partition(":")
    name = f"python:{path}"
    if not module_name or not function_name:
        raise ModelError(f"{name}: write python:package.module:function")
    _search_here_last()
    try:
        module = importlib.import_module(module_name)
        if (other := _stands_in(module)) is not None:
            raise ModelError(f"{name}: {module_name} is {other}: give your module another name")
        function = getattr(module, function_name)
    except ImportError as error:
        raise ModelError(f"{name}: {error}") from error
    except AttributeError as error:
        raise ModelError(f"{name}: module {module_name} has no {function_name!r}") from error
    if not callable(function):
        raise ModelError(f"{name} is not a function")
    return FunctionModel(name, function)


def _search_here_last() -> None:
    """Import from the working folder, too, but last: a file there must not stand in for a library."""
    here = str(Path.cwd())
    sys.path[:] = [*(path for path in sys.path if os.path.abspath(path) != here), here]


def _stands_in(module: ModuleType) -> str | None:
    """Return which library was imported in place of the module of that name in the working folder, if so."""
    name = module.__name__.partition(".")[0]
    own = [path for path in (Path.cwd() / f"{name}.py", Path.cwd() / name / "__init__.py") if path.is_file()]
    top = getattr(sys.modules.get(name, module), "__file__", None)
    if not own or (top is not None and any(map(Path(top).samefile, own))):
        return None
    places = sysconfig.get_paths()
    libraries = [Path(places[kind]).resolve() for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
    if top is not None and not any(map(Path(top).resolve().is_relative_to, libraries)):
        return None
    return f"{top or 'a part of Python'}, not {own[0].relative_to(Path.cwd())} of this folder"


def _source(function: Function) -> str:
    file = inspect.getsourcefile(inspect.unwrap(function)) if inspect.isroutine(function) else None
    return sha256(Path(file).read_bytes()).hexdigest() if file and Path(file).is_file() else ""


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
