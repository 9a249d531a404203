"""What a page does in a browser: it opens from disk, asks for nothing and obeys its reader."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page

from tests.browser import CHROMIUM, open_browser
from tests.pages import NO_CLOSEUPS, hostile_page, with_round_series
from tests.screenshot import write_sample_page
from tests.test_diff_html import hostile_page as hostile_diff
from traceattr.report.html import render_html

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium here (apt-get install chromium)"
)

WIDE, NARROW = 1280, 390

Opened = Callable[..., Page]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write a page of each kind once."""
    folder = tmp_path_factory.mktemp("pages")
    write_sample_page(folder / "demo.html")
    texts = {
        "hostile": hostile_page(folder),
        "rounds": render_html(with_round_series(*range(100, 140)), NO_CLOSEUPS),
        "diff": hostile_diff(),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in ("demo", *texts)}


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    """Start the browser once, with one tab: starting takes longer than all that tests do."""
    with open_browser() as browser:
        yield browser.new_page()


@pytest.fixture
def opened(tab: Page, files: dict[str, Path]) -> Iterator[Opened]:
    """Open pages; at the end of a test none may have complained or asked for anything."""
    said: list[str] = []
    asked: list[str] = []
    listeners: dict[str, Callable[[Any], None]] = {
        "console": lambda message: said.append(message.text),
        "pageerror": lambda error: said.append(str(error)),
        "request": lambda request: asked.append(request.url),
    }

    def open_page(name: str, width: int = WIDE, scheme: Literal["light", "dark"] = "light") -> Page:
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(color_scheme=scheme, media="screen")
        tab.goto(files[name].as_uri())
        return tab

    for event, listener in listeners.items():
        tab.on(event, listener)  # type: ignore[call-overload]
    yield open_page
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    own = {path.as_uri() for path in files.values()} | {"data:,"}
    assert said == []
    assert [url for url in asked if url not in own] == []


def detail(page: Page) -> str:
    return page.inner_text("#closeup-detail")


def shown_ns(page: Page) -> float:
    """Return how much time the timeline shows."""
    return float(page.get_attribute("#closeup-range", "data-span") or 0)


def wait_for_span(page: Page, condition: str) -> None:
    page.wait_for_function(f"document.getElementById('closeup-range').dataset.span {condition}")


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        ("demo", WIDE, "light"),
        ("demo", NARROW, "dark"),
        ("hostile", NARROW, "light"),
        ("rounds", NARROW, "light"),
        ("diff", NARROW, "dark"),
    ],
)
def test_a_page_is_no_wider_than_the_window(
    opened: Opened, name: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    page = opened(name, width, scheme)

    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("canvas:visible").count() == (name != "diff")


def test_hovering_names_kernel_time_and_rule(opened: Opened) -> None:
    page = opened("demo")
    page.locator("#closeup-view").scroll_into_view_if_needed()
    box = page.locator("#closeup-view .u-over").bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 35)

    tip = page.inner_text("#closeup-tip")
    assert "begins at" in tip
    assert "rule " in tip
    assert "GPU 0, rank 0, stream 7, during verify" in tip


def test_the_keyboard_goes_through_the_timeline(opened: Opened) -> None:
    page = opened("demo")
    page.focus("#closeup-view")

    page.keyboard.press("ArrowRight")
    assert detail(page).startswith("draft pass")
    page.keyboard.press("ArrowDown")
    first = detail(page)
    assert "rule " in first
    page.keyboard.press("ArrowRight")
    assert detail(page) != first
    whole = shown_ns(page)
    page.keyboard.press("+")
    wait_for_span(page, f"< {whole}")
    page.keyboard.press("0")
    wait_for_span(page, f"== {whole}")
    page.keyboard.press("Escape")
    assert detail(page) == "Nothing selected."


def test_dragging_zooms_and_a_button_shows_the_whole(opened: Opened) -> None:
    page = opened("demo")
    page.locator("#closeup-view").scroll_into_view_if_needed()
    box = page.locator("#closeup-view .u-over").bounding_box()
    assert box is not None
    whole = shown_ns(page)

    page.mouse.move(box["x"] + 100, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 60, steps=4)
    page.mouse.up()

    assert shown_ns(page) == pytest.approx(whole * 100 / box["width"], rel=0.05)
    page.click("[data-move=all]")
    wait_for_span(page, f"== {whole}")


def test_the_search_of_the_timeline_counts_and_goes_to_what_it_finds(opened: Opened) -> None:
    page = opened("demo")

    page.fill("#closeup-find", "cross_device")
    page.press("#closeup-find", "Enter")

    count = int(page.inner_text("#closeup-found").split()[0].replace(",", ""))
    assert count == 2 * (414 // 3)
    assert "cross_device_reduce_1stage" in detail(page)
    page.fill("#closeup-find", "no such kernel")
    assert page.inner_text("#closeup-found") == "0 operations found"


def test_rows_can_be_categories_and_one_gpu(opened: Opened) -> None:
    page = opened("demo")

    page.select_option("#closeup-rows", "group")
    page.select_option("#closeup-gpu", "1")

    page.focus("#closeup-view")
    said = []
    for _ in range(8):
        page.keyboard.press("ArrowDown")
        said.append(detail(page))
    assert all("GPU 1, rank 1" in text for text in said)
    assert said[0].startswith("draft pass")
    categories = [text.split("; ")[1].split(",")[0] for text in said[1:7]]
    assert categories[:5] == ["weight_gemm", "gdn", "attention", "comm", "draft"]
    assert said[7].startswith(("gap in a graph: ", "host gap: "))


def test_the_slowest_round_can_be_shown(opened: Opened) -> None:
    page = opened("demo")
    median = shown_ns(page)

    page.select_option("#closeup-part", label="slowest round")

    assert shown_ns(page) > median
    assert page.locator("[data-part-sentence='1']").inner_text().startswith("The slowest round")


def test_kernels_are_filtered_and_sorted_by_keyboard(opened: Opened) -> None:
    page = opened("demo")
    rows = page.locator("#kernel-table tbody tr:visible")
    count = page.locator("#kernels output")

    page.fill("#kernels [data-filter=text]", "attention flash")
    assert count.inner_text() == f"{rows.count()} of 50 names"
    assert 0 < rows.count() < 10
    page.fill("#kernels [data-filter=text]", "")
    page.select_option("#kernels [data-filter=category]", "gdn")
    shown = page.locator("#kernel-table tbody tr:visible td:nth-child(2)").all_inner_texts()
    assert {text.strip() for text in shown} == {"gdn"}
    page.select_option("#kernels [data-filter=category]", "")
    page.focus("#kernel-table th:last-child button")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    title = page.locator("#kernel-table th:last-child")
    medians = [
        float(text.replace(",", ""))
        for text in page.locator("#kernel-table td:last-child").all_inner_texts()
    ]
    assert title.get_attribute("aria-sort") == "ascending"
    assert medians == sorted(medians)


def test_kernels_of_a_diff_are_filtered_and_sorted(opened: Opened) -> None:
    page = opened("diff")
    rows = page.locator("#kernel-table tbody tr:visible")
    every = rows.count()

    page.get_by_role("button", name="us before").click()
    page.fill("#kernels [data-filter=text]", "pwned")

    assert 0 < rows.count() < every
    assert page.locator("#kernels output").inner_text() == f"{rows.count()} of {every} names"
    times = [
        float(text.replace(",", "")) for text in rows.locator("td:nth-child(4)").all_inner_texts()
    ]
    assert times == sorted(times, reverse=True)
    assert page.evaluate("window.pwned") is None


def test_hostile_names_do_nothing(opened: Opened) -> None:
    page = opened("hostile")
    page.fill("#closeup-find", "pwned")
    page.focus("#closeup-view")
    for _ in range(9):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")

    assert page.evaluate("window.pwned") is None
    assert page.locator("img").count() == 0
    assert page.is_visible("body")
    assert "onerror='window.pwned = 2'" in page.inner_text("#kernel-table")


def test_rounds_are_read_by_keyboard(opened: Opened) -> None:
    page = opened("rounds")
    page.focus("#rounds-view")

    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")

    page.wait_for_selector("#rounds-detail:has-text('Round 1 of those drawn, on GPU 0')")
    assert "from 0.000000100 s on" in page.inner_text("#rounds-detail")


def test_colours_follow_the_system_until_a_button_says_otherwise(opened: Opened) -> None:
    page = opened("demo", scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)

    page.click("[data-theme-choice=light]")

    assert page.evaluate(paper) == "rgb(255, 255, 255)" != dark
    assert page.get_attribute("[data-theme-choice=light]", "aria-pressed") == "true"
    page.click("[data-theme-choice=auto]")
    assert page.evaluate(paper) == dark


def test_a_page_prints_light_and_unfolded(opened: Opened) -> None:
    page = opened("demo", scheme="dark")

    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("main details:not(.name):not([open])").count() == 0
    assert not page.is_visible("nav")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main details[open]").count() == 0


def test_what_can_be_used_has_a_name(opened: Opened) -> None:
    page = opened("demo")

    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, select, [role=application], [role=img]")]
        .filter((one) => one.checkVisibility())
        .filter((one) => !(one.getAttribute("aria-label") || one.getAttribute("aria-labelledby")
            || one.textContent.trim() || one.labels?.length))
        .map((one) => one.outerHTML)"""
    )

    assert unnamed == []
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3')].map((one) => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
