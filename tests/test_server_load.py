"""What a server says of its load, in its log and its metrics."""

import io
import random

import pytest

from traceattr.roofline.inputs import Input
from traceattr.roofline.load_lines import MOST_KEPT, Entry, read_log
from traceattr.roofline.server_load import ServerLoad, load_of_log, load_of_metrics

NOON = 1776686400.0
"""2026-04-20 12:00:00, as if the server's clock were UTC."""

# As SGLang prints them: 0.5.6, 0.5.10, 0.5.15 with counted forwards, 0.5.23.
SPELLINGS = (
    "[2026-04-20 12:00:00 TP0] Decode batch, #running-req: 2, #token: 1024, token usage: 0.01,"
    " accept len: 2.84, accept rate: 0.71, cuda graph: True, gen throughput (token/s): 55.12,"
    " #queue-req: 0, ",
    "[2026-04-20 12:00:00 TP0] Decode batch, #running-req: 2, #full token: 1024, full token usage:"
    " 0.01, mamba num: 2, mamba usage: 0.10, accept len: 2.84, accept rate: 0.71, cuda graph: True,"
    " gen throughput (token/s): 55.12, #queue-req: 0",
    "[2026-04-20 12:00:00 TP0] Decode batch [1234], #running-req: 2, #token: 1024, token usage:"
    " 0.01, accept len: 2.84, accept rate: 0.71, cuda graph: True, gen throughput (token/s): 55.12,"
    " #queue-req: 0",
    "[2026-04-20 12:00:00 DP0 TP0] Decode batch, #running-req: 2, #full token: 1024, full token"
    " usage: 0.01, accept len: 2.84, cap len: 4.00, accept rate: 0.61, cuda graph: True, gen"
    " throughput (token/s): 55.12, #queue-req: 0, est. read BW (GB/s per GPU): 700.1",
)

ENTRY = Entry(NOON, 0, 0, 2, 1024, 2.84, 55.12, True)

# 0.4 without and with groups, one of several nodes that only decode, windows and caches on hosts.
OTHERS = (
    (
        "[2026-04-20 12:00:00] Decode batch. #running-req: 2, #token: 1024, token usage: 0.01,"
        " gen throughput (token/s): 55.12, #queue-req: 0",
        Entry(NOON, 0, 0, 2, 1024, None, 55.12, None),
    ),
    (
        "[2026-04-20 12:00:00 DP6 TP7] Decode batch. #running-req: 2, #token: 1024, token usage:"
        " 0.01, accept len: 2.84, cuda graph: True, gen throughput (token/s): 55.12, #queue-req: 0",
        Entry(NOON, 6, 7, 2, 1024, 2.84, 55.12, True),
    ),
    (
        "[2026-04-20 12:00:00 DP1 TP3 PP1 EP5] Decode batch [88], #running-req: 2, #token: 1024,"
        " token usage: 0.01, pre-allocated usage: 0.00, #prealloc-req: 7, #transfer-req: 0,"
        " #retracted-req: 9, cuda graph: False, gen throughput (token/s): 55.12, #queue-req: 0",
        Entry(NOON, 1, 3, 2, 1024, None, 55.12, False),
    ),
    (
        "[2026-04-20 12:00:00 TP0 EP0] Decode batch, #running-req: 2, #full token: 1024, full token"
        " usage: 0.01, #swa token: 768, swa token usage: 0.00, accept len: 2.84, accept rate: 0.86,"
        " npu graph: True, gen throughput (token/s): 55.12, #queue-req: 0",
        ENTRY,
    ),
    (
        "[2026-04-20 12:00:00 TP0] Decode batch, #running-req: 2, #gpu-token: 800, gpu token usage:"
        " 0.29, #cpu-token: 1024, cpu token usage: 0.29, cuda graph: True, gen throughput"
        " (token/s): 55.12, #queue-req: 0",
        Entry(NOON, 0, 0, 2, 1024, None, 55.12, True),
    ),
)


def entries(text: str | bytes) -> tuple[Entry, ...]:
    data = text if isinstance(text, bytes) else text.encode()
    return read_log(io.BytesIO(data)).entries


def line(second: float = 0, **values: object) -> str:
    """Return a line on decoding of some second after noon."""
    said = {"requests": 1, "tokens": 500, "accept": 3.0, "rate": 60.0, "ranks": "TP0"} | values
    return (
        f"[2026-04-20 12:{int(second) // 60:02}:{int(second) % 60:02} {said['ranks']}]"
        f" Decode batch, #running-req: {said['requests']}, #token: {said['tokens']},"
        f" accept len: {said['accept']}, accept rate: 0.7, cuda graph: True,"
        f" gen throughput (token/s): {said['rate']}, #queue-req: 0\n"
    )


def load(text: str, begin_s: float, end_s: float) -> ServerLoad:
    between = NOON + begin_s, NOON + end_s
    return load_of_log(read_log(io.BytesIO(text.encode()), between), between)


class TestLines:
    @pytest.mark.parametrize("spelling", SPELLINGS)
    def test_every_spelling_says_the_same(self, spelling: str) -> None:
        assert entries(spelling) == (ENTRY,)

    @pytest.mark.parametrize(("spelling", "entry"), OTHERS)
    def test_servers_that_say_less_or_more_are_understood(
        self, spelling: str, entry: Entry
    ) -> None:
        prefill = "Prefill batch, #new-seq: 1, #new-token: 9, #running-req: 8, cuda graph: False"

        assert entries(f"[2026-04-20 12:00:00 TP0] {prefill}\n{spelling}\n") == (entry,)

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
    def test_lines_end_as_they_like(self, end: str) -> None:
        assert entries(f"progress 1 %{end or ' '}{SPELLINGS[0]}{end}") == (ENTRY,)

    def test_colours_are_not_part_of_what_is_said(self) -> None:
        text = (
            "\x1b[32m[2026-04-20 12:00:00 TP0]\x1b[0m Decode batch, \x1b[1m#running-req:\x1b[0m 2"
        )

        assert entries(text) == (Entry(NOON, 0, 0, 2, None, None, None, None),)

    def test_the_accept_length_of_blocks_is_another(self) -> None:
        text = SPELLINGS[0].replace("accept len", "block accept len: 7.50, accept len")

        assert entries(text) == (ENTRY,)

    @pytest.mark.parametrize("date", ["0000-01-01", "2026-13-01", "2026-04-32"])
    def test_a_day_that_never_was_is_no_time(self, date: str) -> None:
        assert entries(SPELLINGS[0].replace("2026-04-20", date))[0].time_s is None

    def test_ranks_that_write_into_one_line_are_told_apart(self) -> None:
        both = f"{SPELLINGS[0]}{SPELLINGS[3].replace('DP0 TP0', 'DP1 TP2')}\n"

        first, second = entries(both)

        assert (first.dp, first.tp, second.dp, second.tp) == (0, 0, 1, 2)
        assert first.requests == second.requests == 2

    def test_the_time_may_have_a_fraction_or_be_missing(self) -> None:
        with_fraction = SPELLINGS[0].replace("12:00:00", "12:00:00.250")

        assert entries(with_fraction)[0].time_s == NOON + 0.25
        assert entries(SPELLINGS[0].partition("] ")[2])[0].time_s is None
        assert entries(SPELLINGS[0].replace("2026-04", "2026-99"))[0].time_s is None

    def test_an_entry_across_the_pieces_of_a_file_is_whole(self) -> None:
        noise = b"x" * 97 + b"\n"
        text = (noise * 21_399 + SPELLINGS[0].encode() + b"\n") * 2

        assert entries(text) == (ENTRY, ENTRY)

    def test_the_last_arguments_count(self) -> None:
        text = "a ServerArgs(tp_size=1)\nb server_args=ServerArgs(tp_size=2)\r\nServerArgs"

        assert read_log(io.BytesIO(text.encode())).arguments == "ServerArgs(tp_size=2)"

    def test_bytes_that_are_no_text_are_no_entries(self) -> None:
        noise = random.Random(7).randbytes(3_000_000)

        found = read_log(io.BytesIO(noise + b"\n" + SPELLINGS[0].encode() + b"\xff\x00"))

        assert found.entries == (ENTRY,)
        assert found.arguments is None

    def test_a_line_without_end_is_no_obstacle(self) -> None:
        assert len(entries(b"Decode batch" * 400_000)) <= MOST_KEPT

    def test_of_very_many_entries_a_sample_is_kept_and_those_asked_for(self) -> None:
        text = "".join(line(second) for second in range(3000)) * 8

        found = read_log(io.BytesIO(text.encode()), (NOON + 100, NOON + 101))

        assert found.seen == 24_000
        assert len(found.entries) <= 2 * MOST_KEPT
        assert [e.time_s for e in found.entries].count(NOON + 100) == 8


class TestWindow:
    TEXT = "".join(line(second, requests=second + 1, rate=second) for second in (0, 10, 20, 30))

    def test_entries_of_the_window_count(self) -> None:
        found = load(self.TEXT, 9.5, 20.5)

        assert found.in_window
        assert (found.requests, found.tokens_per_s) == (11, 15)
        assert found.about == "2 of 4 intervals, those in the window"

    def test_a_window_between_two_entries_is_told_by_the_one_after_it(self) -> None:
        assert load(self.TEXT, 12.0, 15.0).requests == 21

    @pytest.mark.parametrize("begin_s", [-100, 100])
    def test_a_window_that_the_log_does_not_cover_takes_all_of_it(self, begin_s: float) -> None:
        found = load(self.TEXT, begin_s, begin_s + 1)

        assert not found.in_window
        assert found.about == "all 4 intervals"

    def test_idle_entries_say_nothing(self) -> None:
        assert load(line(0, requests=0, rate=0.0), 0, 1).requests is None


class TestGroups:
    def test_data_parallel_groups_add_up_and_ranks_of_one_do_not(self) -> None:
        ranks = ("DP0 TP0", "DP0 TP1", "DP1 TP2", "DP1 TP3")
        text = "".join(line(5, ranks=rank, requests=3, rate=50.0) for rank in ranks)

        found = load(text, 0, 9)

        assert (found.requests, found.tokens_per_s) == (6, 100)
        assert found.deployment.batch == Input(6, "server log")


METRICS = """
# HELP sglang:spec_accept_length The average acceptance length
# TYPE sglang:spec_accept_length gauge
sglang:spec_accept_length{model_name="a b",tp_rank="0",dp_rank="0"} 2.5
sglang:spec_accept_length{model_name="a b",tp_rank="0",dp_rank="1"} 3.5
sglang:num_running_reqs{model_name="a } b",dp_rank="0"} 2.0
sglang:num_running_reqs{model_name="a b",dp_rank="1"} 1.0
sglang:num_used_tokens{dp_rank="0"} 900
sglang:gen_throughput{dp_rank="0"} 1.5e2 1776686400000
sglang:gen_throughput{dp_rank="1"} NaN
python_info{version="3.11"} 1.0
"""


def test_metrics_say_the_same_in_their_own_words() -> None:
    found = load_of_metrics(METRICS.splitlines())

    assert (found.requests, found.context, found.accept_length) == (3, 300, 3.0)
    assert found.tokens_per_s == 150
    assert found.deployment.accept_length == Input(3.0, "metrics")
    assert found.about.startswith("sglang:gen_throughput, sglang:num_running_reqs")


@pytest.mark.parametrize("value", ["1e999", "-4", "NaN", "..", "+Inf"])
def test_metrics_that_are_no_amount_say_nothing(value: str) -> None:
    names = ("num_running_reqs", "num_used_tokens", "spec_accept_length", "gen_throughput")

    found = load_of_metrics([f"sglang:{name} {value}" for name in names])

    said = (found.requests, found.context, found.accept_length, found.tokens_per_s)
    assert said == (None, None, None, None)
