"""Functions of the user's own, named ``package.module:function``."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import sysconfig
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.errors import HarnessError

PREFIX = "python:"
"""What stands before such a name."""
Function = Callable[..., Any]


def load(path: str, error: type[HarnessError]) -> Function:
    """Import the function named ``package.module:function``. Raises ``error``."""
    module_name, _, function_name = path.partition(":")
    name = f"{PREFIX}{path}"
    if not module_name or not function_name:
        raise error(f"{name}: write python:package.module:function")
    _search_here_last()
    try:
        module = importlib.import_module(module_name)
        if (other := _stands_in(module)) is not None:
            raise error(f"{name}: {module_name} is {other}: give your module another name")
        function = getattr(module, function_name)
    except ImportError as fault:
        raise error(f"{name}: {fault}") from fault
    except AttributeError as fault:
        raise error(f"{name}: module {module_name} has no {function_name!r}") from fault
    if not callable(function):
        raise error(f"{name} is not a function")
    return function  # type: ignore[no-any-return]


def source(function: Function) -> str:
    """Return the SHA-256 of the source file of ``function``; "" where there is none."""
    file = inspect.getsourcefile(inspect.unwrap(function)) if inspect.isroutine(function) else None
    return sha256(Path(file).read_bytes()).hexdigest() if file and Path(file).is_file() else ""


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
