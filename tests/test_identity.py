"""Which GPU is which."""

from dataclasses import replace

import pytest

from traceattr.ingest.identity import DEVICE_UNKNOWN, Evidence, Identity, Owner, identify
from traceattr.ingest.physical import CudaDevice, PhysicalGpu
from traces.export_writer import global_pid

FIRST, SECOND = global_pid(101), global_pid(202)

NOTHING = Evidence(
    process_names={},
    launching=frozenset(),
    context_pids={},
    cuda_devices=(),
    physical=(),
)

A6000 = PhysicalGpu(0, "NVIDIA RTX A6000", "uuid-0", "0000:01:00.0", 84, 768_096_000_000, 0)
OTHER_A6000 = replace(A6000, number=1, uuid="uuid-1", bus_location="0000:02:00.0", cuda_ordinal=1)
H100 = PhysicalGpu(1, "NVIDIA H100", "uuid-1", "0000:02:00.0", 132, 3_352_320_000_000, 1)


def ranks(identity: Identity) -> list[tuple[int | None, int, int | None, str | None]]:
    return [(gpu.pid, gpu.device_id, gpu.rank, gpu.rank_from) for gpu in identity.gpus]


def test_two_ranks_that_both_say_device_0_are_two_gpus() -> None:
    owners = (Owner(FIRST, 0, 1), Owner(SECOND, 0, 1))

    identity = identify(owners, NOTHING)

    assert ranks(identity) == [(101, 0, 0, "device order"), (202, 0, 1, "device order")]
    assert identity.gpu_of[owners[1]] is identity.gpus[1]


def test_contexts_of_one_device_are_one_gpu() -> None:
    identity = identify([Owner(FIRST, 0, 1), Owner(FIRST, 0, 2)], NOTHING)

    assert len(identity.gpus) == 1


def test_titles_give_the_ranks_whatever_the_order_of_pids() -> None:
    evidence = replace(
        NOTHING,
        process_names={FIRST: "sglang::scheduler_TP1", SECOND: "sglang::scheduler_TP0"},
    )

    identity = identify([Owner(FIRST, 0, 1), Owner(SECOND, 0, 1)], evidence)

    assert ranks(identity) == [(202, 0, 0, "process title"), (101, 0, 1, "process title")]


def test_a_process_without_a_rank_among_ranks_has_none_and_comes_last() -> None:
    evidence = replace(NOTHING, process_names={SECOND: "sglang::scheduler_DP0_TP0"})

    identity = identify([Owner(FIRST, 0, 1), Owner(SECOND, 0, 1)], evidence)

    assert ranks(identity) == [(202, 0, 0, "process title"), (101, 0, None, None)]


def test_device_order_is_that_of_the_physical_gpus_where_they_are_known() -> None:
    evidence = replace(
        NOTHING,
        cuda_devices=(CudaDevice(101, 0, 1, "uuid-1", 84), CudaDevice(202, 0, 0, "uuid-0", 84)),
        physical=(A6000, OTHER_A6000),
    )

    identity = identify([Owner(FIRST, 0, 1), Owner(SECOND, 0, 1)], evidence)

    assert [(gpu.pid, gpu.rank, gpu.uuid) for gpu in identity.gpus] == [
        (202, 0, "uuid-0"),
        (101, 1, "uuid-1"),
    ]


def test_a_uuid_beats_a_number() -> None:
    evidence = replace(
        NOTHING, cuda_devices=(CudaDevice(101, 0, 0, "uuid-1", 132),), physical=(A6000, H100)
    )

    [gpu] = identify([Owner(FIRST, 0, 1)], evidence).gpus

    assert (gpu.name, gpu.name_from) == ("NVIDIA H100", "trace")


def test_a_slice_has_the_multiprocessors_its_process_can_use() -> None:
    """MIG: the parent GPU is listed, the slice's share is in the per-process table."""
    evidence = replace(
        NOTHING, cuda_devices=(CudaDevice(101, 0, 1, "MIG-7", 16),), physical=(A6000, H100)
    )

    [gpu] = identify([Owner(FIRST, 0, 1)], evidence).gpus

    assert (gpu.name, gpu.sm_count) == ("NVIDIA H100", 16)


def test_without_the_mapping_an_ordinal_is_assumed_to_be_the_number() -> None:
    evidence = replace(NOTHING, physical=(A6000, H100))

    identity = identify([Owner(FIRST, 0, 1), Owner(FIRST, 1, 2)], evidence)

    assert [(gpu.name, gpu.name_from) for gpu in identity.gpus] == [
        ("NVIDIA RTX A6000", "assumed"),
        ("NVIDIA H100", "assumed"),
    ]


@pytest.mark.parametrize(
    ("physical", "name", "uuid"),
    [
        pytest.param((A6000, OTHER_A6000), "NVIDIA RTX A6000", None, id="alike"),
        pytest.param((A6000, H100), None, None, id="different"),
        pytest.param((A6000,), "NVIDIA RTX A6000", "uuid-0", id="only one"),
    ],
)
def test_an_ordinal_that_two_processes_claim_tells_only_what_all_gpus_share(
    physical: tuple[PhysicalGpu, ...], name: str | None, uuid: str | None
) -> None:
    evidence = replace(NOTHING, physical=physical)

    identity = identify([Owner(FIRST, 0, 1), Owner(SECOND, 0, 1)], evidence)

    assert [(gpu.name, gpu.uuid) for gpu in identity.gpus] == [(name, uuid)] * 2


def test_without_any_gpu_listed_nothing_is_guessed() -> None:
    [gpu] = identify([Owner(FIRST, 0, 1)], NOTHING).gpus

    assert (gpu.name, gpu.name_from, gpu.sm_count) == (None, None, None)


def test_a_missing_process_is_that_of_the_context() -> None:
    evidence = replace(
        NOTHING,
        context_pids={(0, 5): frozenset({202})},
        launching=frozenset({FIRST, SECOND}),
    )
    nameless = Owner(None, 0, 5)

    identity = identify([nameless], evidence)

    assert [gpu.pid for gpu in identity.gpus] == [202]
    assert identity.inferred == {nameless}


def test_a_missing_process_is_the_only_one_that_launched() -> None:
    evidence = replace(NOTHING, launching=frozenset({FIRST}))

    identity = identify([Owner(None, 0, 1)], evidence)

    assert [gpu.pid for gpu in identity.gpus] == [101]


def test_a_missing_process_among_several_stays_unknown() -> None:
    evidence = replace(NOTHING, launching=frozenset({FIRST, SECOND}))

    identity = identify([Owner(None, 0, 1)], evidence)

    assert [(gpu.pid, gpu.global_pid) for gpu in identity.gpus] == [(None, None)]


def test_an_unknown_device_of_a_process_with_two_gpus_cannot_be_placed() -> None:
    known = (Owner(FIRST, 0, 1), Owner(FIRST, 1, 2))
    lost = Owner(FIRST, DEVICE_UNKNOWN, DEVICE_UNKNOWN)

    identity = identify([*known, lost], NOTHING)

    assert lost not in identity.gpu_of
    assert len(identity.gpus) == 2


def test_a_rank_that_owns_no_gpu_is_silent() -> None:
    evidence = replace(
        NOTHING,
        process_names={
            FIRST: "sglang::scheduler_TP0",
            SECOND: "sglang::scheduler_TP1",
            global_pid(303): "sglang::detokenizer",
        },
    )

    assert identify([Owner(FIRST, 0, 1)], evidence).silent_ranks == ("sglang::scheduler_TP1",)


def test_titles_of_other_servers_on_the_machine_are_no_silent_ranks() -> None:
    evidence = replace(NOTHING, process_names={SECOND: "sglang::scheduler_TP1"})

    assert identify([Owner(FIRST, 0, 1)], evidence).silent_ranks == ()
