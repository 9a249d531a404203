"""What an export holds beside the events: machine, processes, metadata and other people's secrets.

The environment block is invented. Real exports hold whole ones, also of unrelated processes, so
a simulated one must too: a test can then look for it in everything that is printed or stored.
"""

from traces.description import Simulation
from traces.export_writer import ExportWriter, global_pid, global_tid
from traces.identity import VM_ID

FAKE_SECRETS = ("hf_notarealtoken0000", "sk-notarealkey0000", "notarealpassword")
FAKE_ENVIRONMENT = "\0".join(
    (
        "HOME=/root",
        f"HF_TOKEN={FAKE_SECRETS[0]}",
        f"OPENAI_API_KEY={FAKE_SECRETS[1]}",
        "CUDA_HOME=/usr/local/cuda",
        f"POSTGRES_PASSWORD={FAKE_SECRETS[2]}",
    )
)
DURATION_NS = 60_000_000_000
UTC_EPOCH_NS = 1_777_000_000_000_000_000
LAUNCHER_PID, TOKENIZER_PID, DETOKENIZER_PID, STRANGER_PID = 3988, 4010, 4190, 977


def write_surroundings(export: ExportWriter, simulation: Simulation) -> None:
    """Write everything that is not an event."""
    _write_metadata(export, simulation)
    _write_processes(export, simulation)
    _write_gpus(export, simulation)
    _write_session(export)
    if export.has("META_DATA_CAPTURE"):
        _write_capture(export, simulation)
    if export.has("DIAGNOSTIC_EVENT"):
        _write_diagnostics(export, simulation)


def _write_metadata(export: ExportWriter, simulation: Simulation) -> None:
    export.metadata("EXPORT_PRODUCT_NAME", "traceattr simulator")
    export.metadata("TRACEATTR_SIMULATED", simulation.sentence)


def _write_processes(export: ExportWriter, simulation: Simulation) -> None:
    ranks = range(len(simulation.slowdowns))
    titles = {
        DETOKENIZER_PID: "sglang::detokenizer",
        **{simulation.pid(rank): f"sglang::scheduler_TP{rank}" for rank in reversed(ranks)},
        TOKENIZER_PID: "python3",
        STRANGER_PID: "postgres",
        LAUNCHER_PID: "nsys",
    }
    for pid, title in titles.items():
        export.process(pid, "python3" if simulation.plain_titles else title)
    for rank in ranks:
        pid = simulation.pid(rank)
        name = export.string("python3")
        export.row("ThreadNames", nameId=name, priority=20, globalTid=global_tid(pid))


def _write_gpus(export: ExportWriter, simulation: Simulation) -> None:
    for rank in range(len(simulation.slowdowns)):
        pid = simulation.pid(rank)
        _write_gpu(export, simulation, rank)
        for lane in simulation.lanes:
            export.row(
                "TARGET_INFO_CUDA_STREAM",
                streamId=simulation.stream_id(rank, lane),
                vmId=1,
                processId=pid,
                contextId=simulation.context_id(rank),
                priority=0,
                flag=3 if lane == "main" else 2,
            )
        _write_context(export, simulation, rank)


def _write_gpu(export: ExportWriter, simulation: Simulation, rank: int) -> None:
    model = simulation.workload.deployment.gpu
    export.gpu(
        rank,
        name=model.name,
        sm_count=model.sm_count,
        memory_bandwidth=model.memory_bandwidth_bytes_per_s,
        compute=model.compute,
        chip=model.chip,
        ordinals={simulation.pid(rank): simulation.device_id(rank)},
        totalMemory=model.memory_bytes,
        l2CacheSize=model.l2_cache_bytes,
    )


def _write_context(export: ExportWriter, simulation: Simulation, rank: int) -> None:
    newer = export.has("TARGET_INFO_CUDA_CONTEXT_INFO")
    table = "TARGET_INFO_CUDA_CONTEXT_INFO" if newer else "TARGET_INFO_CUDA_NULL_STREAM"
    stream = "nullStreamId" if newer else "streamId"
    export.row(
        table,
        vmId=1,
        processId=simulation.pid(rank),
        deviceId=simulation.device_id(rank),
        contextId=simulation.context_id(rank),
        **{stream: simulation.stream_id(rank, "main")},
    )


def _write_session(export: ExportWriter) -> None:
    export.row(
        "TARGET_INFO_SESSION_START_TIME",
        utcEpochNs=UTC_EPOCH_NS,
        utcTime="2026-04-24T03:06:40",
        localTime="2026-04-24T03:06:40",
        systemClockNs=9_000_000_000,
    )
    export.row(
        "ANALYSIS_DETAILS",
        globalVid=VM_ID,
        duration=DURATION_NS,
        startTime=9_000_000_000,
        stopTime=9_000_000_000 + DURATION_NS,
    )
    export.string(FAKE_ENVIRONMENT)
    facts = {"NvDriverVersion": "580.95.05", "DeviceEnvironment": FAKE_ENVIRONMENT}
    for number, (name, value) in enumerate(facts.items()):
        export.row(
            "TARGET_INFO_SYSTEM_ENV",
            globalVid=VM_ID,
            devStateName="target",
            name=name,
            nameEnum=number,
            value=value,
        )


def _write_capture(export: ExportWriter, simulation: Simulation) -> None:
    prefix = "PROCESS_0:" if simulation.era == "3.16" else ""
    mode = simulation.mode.capitalize()
    for name, value in (
        (f"{prefix}CUDA_GRAPH_TRACE_OPTIONS:MODE", mode),
        ("TRACE_AFTER_FORK_BEFORE_EXEC", "true"),
        ("RUN_DURATION_MS", str(DURATION_NS // 1_000_000)),
        ("PROCESS_0:COMMAND", "python3"),
        ("PROCESS_0:ARGUMENT_0", f"--api-key={FAKE_SECRETS[1]}"),
        ("PROCESS_0:ENVIRONMENT_VARIABLE_0", f"HF_TOKEN={FAKE_SECRETS[0]}"),
    ):
        export.capture_metadata(name, value)


def _write_diagnostics(export: ExportWriter, simulation: Simulation) -> None:
    export.diagnostic("Enabling trace for device graph launch", 1, timestamp=-1_500_000)
    for rank in range(len(simulation.slowdowns)):
        text = "Number of CUPTI events produced: \t100000, CUPTI buffers: 50."
        export.diagnostic(text, 1, simulation.pid(rank), DURATION_NS)
    export.row(
        "DIAGNOSTIC_EVENT",
        timestamp=DURATION_NS,
        timestampType=1,
        source=1,
        severity=2,
        text="No CUDA events collected. Does the process use CUDA?",
        globalPid=global_pid(DETOKENIZER_PID),
    )
