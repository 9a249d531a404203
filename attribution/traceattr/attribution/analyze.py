"""From a loaded trace to the analysis that every report shows."""

from importlib.metadata import version

from traceattr.attribution.analysis import Analysis, Gpu, RulesId
from traceattr.attribution.choice import STEADY_ROUNDS, Choice
from traceattr.attribution.collective_series import collective_series
from traceattr.attribution.collectives import communication
from traceattr.attribution.gap_analysis import gap_analysis
from traceattr.attribution.gpu_time import gpu_time
from traceattr.attribution.kernel_times import kernel_times
from traceattr.attribution.layers import find_layers
from traceattr.attribution.notices import Found, notices
from traceattr.attribution.round_series import round_series
from traceattr.attribution.round_summary import summarise_rounds
from traceattr.attribution.sequences import graph_sequences
from traceattr.attribution.survey import Survey, survey
from traceattr.ingest.for_each import both, for_each
from traceattr.ingest.identity import ProcessGpu
from traceattr.ingest.trace import Trace
from traceattr.rules.rule_set import RuleSet


def analyze(trace: Trace, rules: RuleSet, choice: Choice = STEADY_ROUNDS) -> Analysis:
    """Return where each nanosecond of each GPU went, by default in the steady part.

    Raises:
        OptionError: The window or the rounds lie outside what was recorded.
    """
    return analysis_of(trace, rules, survey(trace, rules, choice))


def analysis_of(trace: Trace, rules: RuleSet, found: Survey) -> Analysis:
    """Return the same from what a survey found."""
    window, names = found.steady.window, found.names
    gpus = tuple(map(_gpu, trace.gpus))
    per_gpu = for_each(gpu_time, found.owned)
    rounds = summarise_rounds(found.owned, found.steady, found.facts)
    ranks, sequences = both(
        lambda: communication(found.accounts, gpus, window),
        lambda: graph_sequences(found.accounts, names, window),
    )
    layers = for_each(lambda account: find_layers(account, names, window), found.accounts)
    return Analysis(
        version=version("traceattr"),
        rules=RulesId(rules.name, rules.sha256),
        trace=found.facts,
        gpus=gpus,
        window=window,
        rounds=rounds,
        per_gpu=per_gpu,
        gaps=gap_analysis(trace, found.owned),
        ranks=ranks,
        layers=layers,
        kernels=kernel_times(found.accounts, window, names),
        warnings=notices(trace, Found(found.facts, rounds, per_gpu, ranks, layers)),
        series=tuple(round_series(owned) for owned in found.owned if len(owned.sample)),
        sequences=sequences,
        collectives=for_each(
            lambda owned: collective_series(owned, names, found.facts.epoch_ns),
            (owned for owned in found.owned if len(owned.sample)),
        ),
    )


def _gpu(gpu: ProcessGpu) -> Gpu:
    return Gpu(
        gpu=gpu.gpu_id,
        pid=gpu.pid,
        process=gpu.process_name,
        device_id=gpu.device_id,
        rank=gpu.rank,
        rank_from=gpu.rank_from,
        name=gpu.name,
        name_from=gpu.name_from,
        sm_count=gpu.sm_count,
        memory_bandwidth_bytes_per_s=gpu.memory_bandwidth_bytes_per_s,
    )
