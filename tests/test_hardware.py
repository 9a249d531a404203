import json
from pathlib import Path

import pytest

from traceattr.errors import HardwareError
from traceattr.roofline.hardware import GpuSpec, check_against_trace, find_gpu, load_gpus

GPUS = load_gpus()
BY_NAME = {gpu.name: gpu for gpu in GPUS}
FACTS = Path(__file__).parents[2] / "shared" / "reference" / "roofline" / "hardware.json"
MINE = """
[[gpu]]
name = "MY_GPU"
device_names = ["NVIDIA My GPU"]
architecture = "Ampere"
compute_capability = "8.6"
sm_count = 10
memory_gb = 8
memory_bandwidth_gb_per_s = 100.5
peak_tflop_per_s = { bf16 = 10.25 }
link = "PCIe 4.0 x16"
link_gb_per_s = 31.5
bandwidth_efficiency = 0.9
"""


def spec_file(folder: Path, text: str) -> Path:
    path = folder / "gpus.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_a6000_has_its_tensor_rate_and_not_that_of_its_cuda_cores() -> None:
    a6000 = BY_NAME["RTX_A6000"]

    assert a6000.peak_flop_per_s["bf16"] == 154.8e12
    assert a6000.memory_bandwidth_bytes_per_s == 768_000_000_000
    assert a6000.memory_bytes == 48_000_000_000
    assert a6000.sm_count == 84
    assert (a6000.link, a6000.link_bandwidth_bytes_per_s) == ("NVLink bridge", 56_250_000_000)
    assert a6000.pcie_bandwidth_bytes_per_s == 31_500_000_000


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)
def test_every_number_has_a_source(gpu: GpuSpec) -> None:
    assert set(gpu.sources) == {
        "sm_count",
        "memory_bytes",
        "memory_bandwidth_bytes_per_s",
        "peak_flop_per_s",
        "link_bandwidth_bytes_per_s",
        "bandwidth_efficiency",
    }
    assert "hardware.toml" not in gpu.sources.values()


@pytest.mark.skipif(not FACTS.exists(), reason="the collected facts are not beside this checkout")
def test_the_table_says_what_was_collected() -> None:
    collected = json.loads(FACTS.read_text(encoding="utf-8"))["gpus"]

    for name, facts in collected.items():
        gpu = BY_NAME[name]
        peaks = facts["tensor_dense_tflops"]
        assert gpu.memory_bandwidth_bytes_per_s == facts["mem_bw_GBs"] * 10**9
        assert gpu.sm_count == facts["sm"]
        assert gpu.peak_flop_per_s == {
            key: pytest.approx(peak * 1e12) for key, peak in peaks.items() if peak is not None
        }
        assert {find_gpu(each, GPUS).sm_count for each in facts["nsys_names"]} == {facts["sm"]}


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)
def test_every_name_finds_its_gpu(gpu: GpuSpec) -> None:
    assert {find_gpu(name, GPUS).name for name in (gpu.name, *gpu.device_names)} == {gpu.name}


@pytest.mark.parametrize("gpu", GPUS, ids=lambda gpu: gpu.name)
def test_formats_exist_only_where_the_hardware_has_them(gpu: GpuSpec) -> None:
    capability = tuple(map(int, gpu.compute_capability.split(".")))

    assert ("bf16" in gpu.peak_flop_per_s) == (capability >= (8, 0))
    assert ("fp8" in gpu.peak_flop_per_s) == (capability >= (8, 9))
    assert ("fp4" in gpu.peak_flop_per_s) == (capability >= (10, 0))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("NVIDIA H100 80GB HBM3", "H100_SXM"),
        ("NVIDIA H100 PCIe", "H100_PCIE"),
        ("NVIDIA H100 NVL", "H100_NVL"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX_6000_Ada"),
        ("nvidia rtx a6000", "RTX_A6000"),
        ("GeForce RTX 4090", "RTX_4090"),
        ("NVIDIA A800-SXM4-80GB", "A800_SXM4_80GB"),
        ("h100-sxm", "H100_SXM"),
    ],
)
def test_names_that_look_alike_are_told_apart(name: str, found: str) -> None:
    assert find_gpu(name, GPUS).name == found


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("H100", "H100_PCIE, H100_SXM, H100_NVL"),
        ("A6000", "RTX_A6000"),
        ("NVIDIA A100-SXM4-80GB MIG 3g.40gb", "A100_SXM4_80GB"),
    ],
)
def test_a_part_of_a_name_finds_nothing_and_the_error_names_what_is_near(
    name: str, near: str
) -> None:
    with pytest.raises(HardwareError) as caught:
        find_gpu(name, GPUS)

    assert str(caught.value).startswith(f"{name}: unknown GPU (expected {near}")


def test_a_trace_within_five_percent_is_believed() -> None:
    a6000 = BY_NAME["RTX_A6000"]

    assert not check_against_trace(a6000, sm_count=84, memory_bandwidth_bytes_per_s=768_096_000_000)
    assert not check_against_trace(a6000, sm_count=None, memory_bandwidth_bytes_per_s=None)


def test_a_trace_of_another_card_is_told() -> None:
    warnings = check_against_trace(
        BY_NAME["RTX_A6000"], sm_count=42, memory_bandwidth_bytes_per_s=700_000_000_000
    )

    reasons = "another card, a lower clock, ECC or a MIG slice"
    assert warnings == (
        f"the trace says 42 SMs, the table of RTX_A6000 84: {reasons}",
        f"the trace says 700 GB/s, the table of RTX_A6000 768: {reasons}",
    )


def test_the_first_format_that_a_gpu_has_is_what_it_computes_in() -> None:
    assert BY_NAME["RTX_A6000"].peak_for(("fp8", "bf16")) == 154.8e12
    assert BY_NAME["T4"].peak_for(("bf16", "fp16")) == 65e12
    with pytest.raises(HardwareError, match="T4 does not compute in fp8, bf16"):
        BY_NAME["T4"].peak_for(("fp8", "bf16"))


def test_a_file_adds_gpus(tmp_path: Path) -> None:
    gpus = load_gpus(spec_file(tmp_path, MINE))

    mine = find_gpu("My GPU", gpus)
    assert mine.memory_bandwidth_bytes_per_s == 100_500_000_000
    assert mine.peak_flop_per_s == {"bf16": 10.25e12}
    assert mine.pcie_bandwidth_bytes_per_s is None
    assert mine.sources["sm_count"] == str(tmp_path / "gpus.toml")
    assert len(gpus) == len(GPUS) + 1


def test_a_file_replaces_a_gpu_of_the_same_name(tmp_path: Path) -> None:
    text = MINE.replace("NVIDIA My GPU", "NVIDIA RTX A6000")

    gpus = load_gpus(spec_file(tmp_path, text))

    assert find_gpu("NVIDIA RTX A6000", gpus).name == "MY_GPU"
    assert len(gpus) == len(GPUS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sm_count = 10\n", "", "field 'gpu.MY_GPU.sm_count' is missing (expected an integer"),
        ("sm_count = 10", "sm_count = 0", "field 'gpu.MY_GPU.sm_count' is 0 (expected an integer"),
        ("sm_count = 10", "sms = 10", "unknown field 'gpu.MY_GPU.sms' (expected one of name, "),
        ("bf16 = 10.25", "bf17 = 1", "unknown field 'gpu.MY_GPU.peak_tflop_per_s.bf17'"),
        ("bf16 = 10.25", "", "'gpu.MY_GPU.peak_tflop_per_s' is empty"),
        ("= 0.9", "= 90", "field 'gpu.MY_GPU.bandwidth_efficiency' is 90 (expected a share"),
        ("= 100.5", '= "100"', "field 'gpu.MY_GPU.memory_bandwidth_gb_per_s' is '100'"),
        ("[[gpu]]", "[[card]]", "something else than GPUs (expected [[gpu]] tables alone)"),
        ("[[gpu]]", "[[gpu]", "not TOML"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = spec_file(tmp_path, MINE.replace(old, new))

    with pytest.raises(HardwareError) as caught:
        load_gpus(path)

    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gpus.toml"

    with pytest.raises(HardwareError) as caught:
        load_gpus(path)

    assert str(caught.value) == (
        f"{path}: No such file or directory (expected a TOML file of GPUs)"
    )
