"""How long terms take: at the very least, and as serving goes."""

from collections.abc import Iterable, Mapping
from typing import Literal

from traceattr.roofline.calibration import (
    KERNEL_COSTS,
    MIB,
    NVLINK,
    NVLINK_RATIO,
    PCIE_RATIO,
    PEAK_FLOP_RATIO,
    KernelKind,
    collective_fit,
)
from traceattr.roofline.hardware import GpuSpec
from traceattr.roofline.number_format import number_format
from traceattr.roofline.work import Message, Term

Limit = Literal["memory", "compute", "link", "latency"]

_NS = 1_000_000_000


def least_ns(terms: Iterable[Term], gpu: GpuSpec) -> Mapping[Limit, float]:
    """Return what each limit of the hardware takes for all terms, in ns.

    Everything is at datasheet rates; the largest of them is the bound.
    """
    total: dict[Limit, float] = {"memory": 0.0, "compute": 0.0, "link": 0.0}
    for term in terms:
        total["memory"] += term.total_bytes / gpu.memory_bandwidth_bytes_per_s * _NS
        total["compute"] += term.count * _compute_ns(term, gpu)
        if term.message is not None:
            received = term.count * term.message.received_bytes
            total["link"] += received / gpu.link_bandwidth_bytes_per_s * _NS
    return total


def floor_ns(term: Term, gpu: GpuSpec) -> float:
    """Return the part of the expected time of a term that moves no data, in ns."""
    if term.message is not None:
        fit = collective_fit(gpu.link, gpu.architecture, term.message.ranks)
        return term.count * (fit.alpha_ns if term.floor_ns is None else term.floor_ns)
    each = KERNEL_COSTS[term.kind].floor_ns if term.floor_ns is None else term.floor_ns
    return term.total_launches * each


def moving_ns(term: Term, gpu: GpuSpec) -> float:
    """Return the part of the expected time of a term that moves or computes, in ns."""
    if term.message is not None:
        return term.count * _message_ns(term.message, gpu)
    rate = bandwidth_ratio(term.kind, gpu) * gpu.memory_bandwidth_bytes_per_s
    memory = term.bytes / rate * _NS
    return term.count * max(memory, _compute_ns(term, gpu) / PEAK_FLOP_RATIO)


def bandwidth_ratio(kind: KernelKind, gpu: GpuSpec) -> float:
    """Return the part of the datasheet bandwidth that kernels of a kind reach on a GPU."""
    if kind is KernelKind.GEMM:
        return gpu.bandwidth_efficiency
    return KERNEL_COSTS[kind].bandwidth_ratio


def _compute_ns(term: Term, gpu: GpuSpec) -> float:
    """Return the time of one term at the dense peak of its format, in ns."""
    if term.number_format is None or not term.flop:
        return 0.0
    return term.flop / gpu.peak_for(number_format(term.number_format).computes_in) * _NS


def _message_ns(message: Message, gpu: GpuSpec) -> float:
    """Return the transfer time: as measured up to 1 MiB, at the large-message rate beyond."""
    fit = collective_fit(gpu.link, gpu.architecture, message.ranks)
    measured = min(message.size_bytes, MIB) / fit.bytes_per_s
    beyond = max(message.size_bytes - MIB, 0) * 2 * (message.ranks - 1) / message.ranks
    return (measured + beyond / _large_message_rate(gpu)) * _NS


def _large_message_rate(gpu: GpuSpec) -> float:
    """Return the bytes per second on the wire of a collective of many MB."""
    if gpu.link == NVLINK:
        return NVLINK_RATIO * gpu.link_bandwidth_bytes_per_s
    pcie = gpu.pcie_bandwidth_bytes_per_s or gpu.link_bandwidth_bytes_per_s
    return PCIE_RATIO * pcie
