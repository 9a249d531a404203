"""Which forward passes a round consists of.

A round of SGLang with a built-in draft of one layer and s draft steps (topk 1) is one verify pass
over q = s + 1 rows of each request, one draft-extend over the same rows, which also yields the
first draft token, and s - 1 draft passes over one row: s passes of the draft layer in all
(SGLang 0.5.23, ``eagle_worker_v2.py``).  Without a draft a round is one decode pass.
"""

from dataclasses import dataclass

from traceattr.roofline.work import Phase, Stage


@dataclass(frozen=True, slots=True)
class Forward:
    """One kind of forward pass and how often a round runs it.

    Attributes:
        phase: Phase in which its kernels count.
        stage: What it is for.
        repeats: Passes per round.
        requests: Requests in flight in the whole deployment.
        rows: Tokens of each request that go through it.
        context: Tokens of each request that attention reads from the cache.
        logit_rows: Rows of each request for which logits are made.
    """

    phase: Phase
    stage: Stage
    repeats: int
    requests: int
    rows: int
    context: int
    logit_rows: int

    @property
    def all_rows(self) -> int:
        """Rows of all requests, M in the formulas."""
        return self.requests * self.rows

    @property
    def attended(self) -> int:
        """Twice the tokens that a row attends to on average.

        A prefill row sees the cache and half of its own chunk; in decode and verify the own rows
        do not matter beside the cache.
        """
        return 2 * self.context + (self.rows if self.stage == "prefill" else 0)


def round_forwards(
    requests: int, context: int, draft_steps: int, draft_tokens: int, draft_topk: int = 1
) -> tuple[Forward, ...]:
    """Return the passes of one decode or speculative round.

    With a tree of drafts (topk > 1) each draft pass continues ``draft_topk`` branches of a request,
    verify goes over the ``draft_tokens`` best nodes, and draft-extend over one branch.
    """
    if draft_steps == 0:
        return (Forward("target", "decode", 1, requests, 1, context, 1),)
    verify = Forward("target", "verify", 1, requests, draft_tokens, context, draft_tokens)
    extended = draft_tokens if draft_topk == 1 else draft_steps + 1
    extend = Forward("draft", "draft_extend", 1, requests, extended, context, 1)
    if draft_steps == 1:
        return (verify, extend)
    draft = Forward("draft", "draft", draft_steps - 1, requests, draft_topk, context, draft_topk)
    return (verify, draft, extend)


def prefill_forwards(
    requests: int, context: int, chunk: int, draft_steps: int
) -> tuple[Forward, ...]:
    """Return the passes over a chunk of each prompt, of which ``context`` tokens are cached.

    With a draft its layer goes over the prompt too, to fill its own cache.
    """
    target = Forward("prefill", "prefill", 1, requests, chunk, context, 1)
    if draft_steps == 0:
        return (target,)
    return (target, Forward("draft", "prefill", 1, requests, chunk, context, 1))
