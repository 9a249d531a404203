import pytest

from traceattr.attribution.window import choose_window, parse_window, seconds
from traceattr.errors import OptionError

RECORDED_NS = (1_000_000_001, 3_000_000_007)


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("1:2", (1_000_000_000, 2_000_000_000)),
        ("0.1:0.3", (100_000_000, 300_000_000)),
        ("1753000000.123456789:1753000000.123456790", (1753000000123456789, 1753000000123456790)),
        ("-0.5:.5", (-500_000_000, 500_000_000)),
        ("1.5:", (1_500_000_000, None)),
        (":2", (None, 2_000_000_000)),
        (":", (None, None)),
        (" 1 : 2 ", (1_000_000_000, 2_000_000_000)),
        ("1e-3:2", (1_000_000, 2_000_000_000)),
    ],
)
def test_seconds_are_exact_to_the_nanosecond(
    text: str, window: tuple[int | None, int | None]
) -> None:
    assert parse_window(text) == window


@pytest.mark.parametrize(
    "text", ["", "1", "a:b", "1:2:3", "nan:1", "0:inf", "0.1234567891:1", "2:1", "1:1"]
)
def test_what_is_no_window_is_an_error_that_shows_it(text: str) -> None:
    with pytest.raises(OptionError, match="expected"):
        parse_window(text)


def test_the_default_window_is_first_to_last_operation() -> None:
    window = choose_window(RECORDED_NS, (None, None))

    assert (window.start_ns, window.end_ns) == (1_000_000_001, 3_000_000_007)
    assert window.wall_ns == 2_000_000_006
    assert window.why == "first to last GPU operation"


def test_an_open_end_is_that_of_the_work() -> None:
    window = choose_window(RECORDED_NS, (2_000_000_000, None))

    assert (window.start_ns, window.end_ns) == (2_000_000_000, 3_000_000_007)


@pytest.mark.parametrize("option", [(4_000_000_000, None), (None, 1), (5, 6)])
def test_a_window_outside_the_work_is_an_error_that_says_where_the_work_is(
    option: tuple[int | None, int | None],
) -> None:
    with pytest.raises(OptionError, match=r"1\.000000001:3\.000000007 s"):
        choose_window(RECORDED_NS, option)


def test_seconds_keep_all_digits() -> None:
    assert [seconds(t) for t in (0, 1, -1_500_000_000, 1753000000123456789)] == [
        "0.000000000",
        "0.000000001",
        "-1.500000000",
        "1753000000.123456789",
    ]
