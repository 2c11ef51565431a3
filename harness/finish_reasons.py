"""What servers call the reasons for which a reply ends, as one of a few."""

from __future__ import annotations

import re
from typing import Literal

Finish = Literal["stop", "length", "filter", "refusal", "failure", "unknown"]

_SYNONYMS: dict[Finish, str] = {
    # OpenAI, Claude, Cohere, TGI, Bedrock, watsonx; servers that leave the field empty.
    "stop": "stop none null eos eostoken endturn stopsequence complete completed endoftext normal done finished",
    # OpenAI, Claude, Gemini, Mistral, Cohere, Bedrock, watsonx.
    "length": (
        "length maxtokens modellength maxlength maxoutputtokens tokenlimit errorlimit maxcontextlength"
        " modelcontextwindowexceeded contextlengthexceeded contextwindowexceeded maxcompletiontokens lengthcapped"
    ),
    # Azure, Gemini and Vertex, Cohere, Bedrock, Zhipu.
    "filter": (
        "contentfilter contentfiltered safety recitation blocklist prohibitedcontent spii imagesafety"
        " imageprohibitedcontent imagerecitation errortoxic guardrailintervened guardrail guardrails sensitive"
        " modelarmor jailbreak contentblocked blocked moderation contentpolicy contentpolicyviolation"
    ),
    "refusal": "refusal refused",
    # OpenRouter, vLLM, SGLang, DeepSeek, Zhipu, Cohere, watsonx, Ollama.
    "failure": (
        "error failed failure abort aborted cancel canceled cancelled usercancel timeout timelimit networkerror"
        " insufficientsystemresource load unload language internalerror serviceerror"
    ),
}
_BY_NAME = {name: finish for finish, names in _SYNONYMS.items() for name in names.split()}


def finish(reason: str | None) -> Finish:
    """Return what a server's ``reason`` means, in whatever case and with whatever separators."""
    name = re.sub(r"[\W_]+", "", (reason or "stop")[:200].lower()).removeprefix("finishreason")
    return _BY_NAME.get(name, "unknown")
