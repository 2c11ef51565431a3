"""The pages and what they ask for. Only a click on Ask sends anything to a model or writes a file."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

from jinja2 import BaseLoader, ChoiceLoader, PackageLoader
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from harness import __version__
from harness.core import Json
from harness.errors import HarnessError
from harness.guard import page, watch
from harness.report import comparison_page
from harness.report.html import environment
from harness.studies.comparing import compared_runs
from harness.view import trial
from harness.view.access import Access
from harness.view.runs import PAGES, Runs, logs
from harness.view.setups import Setup, setups

OWN = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What the pages made here may do."""
FOREIGN = "sandbox allow-scripts allow-downloads allow-popups; frame-ancestors 'none'"
"""What a file of a run folder may do: it may come from anyone, and must not act in the user's name."""
LARGEST = 100_000
"""The most bytes of a request."""


class Pages:
    """The pages about ``runs``; ``cache`` takes the replies about texts that are tried."""

    def __init__(self, runs: Runs, cache: Path | None) -> None:
        self._runs = runs
        self._cache = cache
        self._trials = trial.Trials()
        self._setups: Mapping[str, Setup] = {}
        own = PackageLoader("harness", "view")
        reports = environment()
        self._environment = reports.overlay(loader=ChoiceLoader([own, cast(BaseLoader, reports.loader)]))

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Release at the end what the trials keep."""
        yield
        await self._trials.close()

    async def home(self, request: Request) -> Response:
        """The list of runs."""
        listed = await run_in_threadpool(self._runs.listed)
        return self._page("runs.html.jinja", runs=listed, folder=self._runs.folder, pages=PAGES)

    async def file(self, request: Request) -> Response:
        """A page or table of figures of one run."""
        paths = await run_in_threadpool(self._runs.paths)
        folder, name = paths.get(request.path_params["run"]), request.path_params["file"]
        if folder is None or name not in PAGES or not (folder / name).is_file():
            return PlainTextResponse("There is no such page.", 404)
        return FileResponse(folder / name, headers={"Content-Security-Policy": FOREIGN})

    async def compare(self, request: Request) -> Response:
        """Some runs side by side."""
        paths = await run_in_threadpool(self._runs.paths)
        chosen = [paths[name] for name in request.query_params.getlist("run") if name in paths]
        if len(chosen) < 2:
            return self._fault("Choose at least two runs to compare.")
        try:
            page = await run_in_threadpool(_compared, chosen)
        except HarnessError as error:
            return self._fault(trial.told(error))
        return HTMLResponse(page, headers={"Content-Security-Policy": FOREIGN})

    async def try_page(self, request: Request) -> Response:
        """The page that tries one text."""
        return self._page("try.html.jinja", setups=list((await self._load()).values()))

    async def versions(self, request: Request) -> Response:
        """What would change in a text, and what asking takes."""
        try:
            return JSONResponse(await self._trials.versions(await self._wish(request)))
        except HarnessError as error:
            return JSONResponse({"error": trial.told(error)}, 422)

    async def answers(self, request: Request) -> Response:
        """The answers about a text, one JSON object a line, as they come."""
        try:
            wish = await self._wish(request)
        except HarnessError as error:
            return JSONResponse({"error": trial.told(error)}, 422)

        async def lines() -> AsyncIterator[str]:
            async for item in self._trials.answers(wish):
                yield json.dumps(item, ensure_ascii=False) + "\n"

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def guard(self, request: Request) -> Response:
        """The checks of a guard over time, from its log."""
        found = await run_in_threadpool(logs, self._runs.folder)
        chosen = request.query_params.get("log", next(iter(found), ""))
        shown = []
        if chosen in found:
            try:
                shown = list(page.sections(await run_in_threadpool(watch.read, found[chosen])))
            except OSError as error:
                return self._fault(f"{chosen}: {error.strerror or error}")
        where = self._runs.folder
        return self._page("guard.html.jinja", logs=list(found), chosen=chosen, sections=shown, folder=where)

    async def style(self, request: Request) -> Response:
        """The style of these pages."""
        return Response(self._environment.get_template("view.css.jinja").render(), media_type="text/css")

    async def script(self, request: Request) -> Response:
        """The script of the page that tries a text."""
        return FileResponse(Path(__file__).parent / "try.js", media_type="text/javascript")

    async def _load(self) -> Mapping[str, Setup]:
        """Read the setups that there are now; those of the page that was loaded last stand till then."""
        paths = await run_in_threadpool(self._runs.paths)
        self._setups = await run_in_threadpool(setups, paths, self._cache)
        return self._setups

    async def _wish(self, request: Request) -> trial.Wish:
        """Return what the page asks for. Raises ``HarnessError``."""
        sent = await _json(request)
        name = str(sent.get("setup"))
        setup = self._setups.get(name) or (await self._load()).get(name)
        if setup is None:
            raise HarnessError("there is no such setup: load the page again")
        return trial.Wish(trial.checked_text(sent.get("text")), setup.of(trial.names(sent.get("attributes"))))

    def _page(self, template: str, status: int = 200, **values: object) -> Response:
        page = self._environment.get_template(template).render(version=__version__, **values)
        return HTMLResponse(page, status, headers={"Content-Security-Policy": OWN})

    def _fault(self, text: str) -> Response:
        return self._page("fault.html.jinja", 422, text=text)


def _compared(paths: Sequence[Path]) -> str:
    return comparison_page.render(*compared_runs(paths))


async def _json(request: Request) -> dict[str, Json]:
    """Return the JSON object of a request. Raises ``HarnessError``."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise HarnessError(f"the request is larger than {LARGEST:,} bytes")
    try:
        sent = json.loads(body)
    except ValueError as error:
        raise HarnessError("the request is not JSON") from error
    if not isinstance(sent, dict):
        raise HarnessError("the request is no JSON object")
    return sent


def _headed(call: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    async def headed(request: Request) -> Response:
        response = await call(request)
        for name, value in (
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
        ):
            response.headers[name] = value
        return response

    return headed


def app(runs: Runs, token: str, port: int, cache: Path | None = None) -> Starlette:
    """Return the application that serves ``runs`` to who has the ``token``, on ``port`` of this machine."""
    pages = Pages(runs, cache)
    return Starlette(
        routes=[
            Route("/", _headed(pages.home)),
            Route("/compare", _headed(pages.compare)),
            Route("/try", _headed(pages.try_page)),
            Route("/guard", _headed(pages.guard)),
            Route("/try/versions", _headed(pages.versions), methods=["POST"]),
            Route("/try/answers", _headed(pages.answers), methods=["POST"]),
            Route("/static/view.css", _headed(pages.style)),
            Route("/static/try.js", _headed(pages.script)),
            Route("/runs/{run:path}/{file}", _headed(pages.file)),
        ],
        middleware=[Middleware(Access, token=token, port=port)],
        lifespan=pages.lifespan,
    )
