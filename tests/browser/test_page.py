"""What the explorer's page does, each thing by a script in a browser."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

import pytest

from browser.pages import line_with  # pyright: ignore[reportMissingImports]

pytestmark = [pytest.mark.needs("browser"), pytest.mark.costly]


def texts(page: Any, selector: str) -> list[str]:
    return page.locator(selector).all_inner_texts()


def test_it_opens_on_an_overview(open_page: Any) -> None:
    page = open_page("cpu")
    shown = page.locator("main").inner_text()
    for words in (
        "x_ptr",
        "*fp32",
        "BLOCK",
        "256",
        "100 x 1 x 1",
        "machine code",
        "vector registers",
        "spilled registers",
    ):
        assert words in shown, words
    assert "Time of the compilation" in shown and page.locator(".bars b").count() > 3
    assert (
        "operations" in shown and "arithmetic intensity" in shown and page.locator("svg.roofline circle").count() == 1
    )
    page.locator(".bars a[href]").first.click()
    assert page.locator("nav a[aria-current]").get_attribute("data-view").startswith("step:")


def test_gpus_have_registers_shared_memory_and_occupancy(open_page: Any) -> None:
    shown = open_page("gpu").locator("main").inner_text()
    for words in ("registers of a thread", "shared memory", "occupancy", "in matmuls", "A100"):
        assert words in shown, words


@pytest.mark.parametrize(
    ("name", "view", "code"),
    [("cpu", "text:asm", "max"), ("cpu", "text:llir", "fdiv"), ("gpu", "text:ptx", "mma.sync")],
)
def test_machine_code_and_source_mark_each_other(open_page: Any, name: str, view: str, code: str) -> None:
    page = open_page(name, f"#view={view}")
    wanted = line_with({"max": "return x - tl.max", "fdiv": "powers / tl.sum", "mma.sync": "tl.dot"}[code])
    lines = page.locator("#panes .code > div").filter(has_text=code)
    marked: set[int] = set()
    for number in range(min(lines.count(), 12)):
        lines.nth(number).hover()
        marked |= {int(text) for text in texts(page, "#source .code > div.near > i")}
    assert wanted in marked
    page.locator("#source .code > div").filter(has=page.locator(f"i:text-is('{wanted}')")).first.hover()
    assert page.locator("#panes .code > div.near").count() > 0, "and back"


def test_marks_stay_from_pass_to_pass(open_page: Any) -> None:
    page = open_page("cpu", "#view=step:0")
    page.locator("#source .code > div").filter(has_text="x = tl.load").click()
    for _ in range(6):
        assert page.locator("#panes .code > div.pinned").count() > 0
        page.keyboard.press("n")
    assert "pin=" in page.url
    page.keyboard.press("Escape")
    assert page.locator(".pinned").count() == 0 and "pin=" not in page.url


def test_it_jumps_to_the_kernel(open_page: Any) -> None:
    page = open_page("cpu", "#view=text:asm")
    assert re.match(r"\d+\s*rows:", page.locator("#panes .cursor").inner_text())
    assert page.locator("#panes .cursor").is_visible()
    top = page.locator("#panes section").bounding_box()["y"]
    assert abs(page.locator("#panes .cursor").bounding_box()["y"] - top) < 60
    page = open_page("gpu", "#view=text:ptx")
    page.select_option("#symbol", label="matmul")
    assert ".entry matmul" in page.locator("#panes .cursor").inner_text()


def test_what_is_pinned_comes_into_sight(open_page: Any) -> None:
    page = open_page("cpu", f"#view=text:asm&pin=0:{line_with('powers / tl.sum')}")
    pane, line = page.locator("#panes section").bounding_box(), page.locator("#panes .pinned").first.bounding_box()
    assert pane["y"] < line["y"] < pane["y"] + pane["height"]


def test_panes_have_the_width_that_they_are_given(open_page: Any) -> None:
    page = open_page("cpu")
    bar = page.locator(".bar[data-pane=source]")
    before, box = page.locator("#source").bounding_box()["width"], bar.bounding_box()
    page.mouse.move(box["x"] + 2, 400)
    page.mouse.down()
    page.mouse.move(box["x"] + 122, 400)
    page.mouse.up()
    assert page.locator("#source").bounding_box()["width"] == pytest.approx(before + 120, abs=3)
    bar.focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#source").bounding_box()["width"] == pytest.approx(before + 100, abs=3)
    page.reload()
    assert page.locator("#source").bounding_box()["width"] == pytest.approx(before + 100, abs=3), "it is remembered"


def test_python_is_coloured(open_page: Any) -> None:
    page = open_page("cpu")
    line = page.locator("#source .code > div").filter(has_text="def rows")
    assert line.locator("span.k").first.inner_text() == "def" and "tl.constexpr" in texts(page, "#source span.o")


def test_search(open_page: Any) -> None:
    page = open_page("cpu", "#view=text:asm")
    page.keyboard.press("/")
    page.keyboard.type("vmax")
    found = re.fullmatch(r"1 of (\d+)", page.locator("#found").inner_text())
    assert found and page.locator("#panes .match").count() == int(found[1]) > 1
    page.keyboard.press("Enter")
    assert page.locator("#found").inner_text().startswith("2 of") and page.locator("#panes .at").is_visible()
    page.keyboard.press("Shift+Enter")
    assert page.locator("#found").inner_text().startswith("1 of") and "search=vmax" in page.url


def test_the_state_is_in_the_address(open_page: Any) -> None:
    page = open_page("cpu", "#view=step:0")
    page.get_by_role("link", name="triton-to-structured").click()
    page.get_by_role("button", name="before and after").click()
    page.get_by_label("only passes with an effect").check()
    view = page.locator("nav a[aria-current]").get_attribute("data-view")
    again = open_page(page.url)
    assert again.locator("nav a[aria-current]").get_attribute("data-view") == view
    assert again.locator("#panes > section").count() == 2 and again.locator("#hide").is_checked()
    again.goto(again.url.partition("#")[0] + "#view=step:99999&version=7&mode=none")
    assert again.locator("nav a[aria-current]").get_attribute("data-view") == "overview", (
        "what is not there is not shown"
    )


def test_scrolling_starts_anew_in_another_view(open_page: Any) -> None:
    page = open_page("cpu", "#view=text:llir")
    section = page.locator("#panes section")
    section.evaluate("pane => pane.scrollTop = 900")
    page.get_by_role("link", name="linalg-to-loops").click()
    assert page.locator("#panes section").evaluate("pane => pane.scrollTop") == 0
    page.locator("#panes section").evaluate("pane => pane.scrollTop = 300")
    page.locator("#source .code > div").filter(has_text="x = tl.load").click()
    page.get_by_role("button", name="Copy").click()
    assert page.locator("#panes section").evaluate("pane => pane.scrollTop") > 0, "within one it stays"


def test_passes_without_effect_are_hidden_on_request(open_page: Any) -> None:
    page = open_page("cpu")
    links = page.locator("nav a:visible")
    everything = links.count()
    page.get_by_label("only passes with an effect").check()
    assert page.locator("nav a.same:visible").count() == 0 < links.count() < everything


def test_before_and_after_stand_beside_each_other(open_page: Any) -> None:
    page = open_page("cpu", "#view=step:0")
    page.get_by_role("link", name="linalg-to-loops").click()
    page.get_by_role("button", name="changes").click()
    assert page.locator("#panes .added").count() and page.locator("#panes .dropped").count()
    page.get_by_role("button", name="before and after").click()
    counts = [page.locator(f"#panes > section:nth-child({side}) .code > div").count() for side in (1, 2)]
    assert counts[0] == counts[1] and page.locator("#panes .filler").count() > 0
    page.locator("#panes > section").first.evaluate("pane => { pane.scrollTop = 200; pane.scrollLeft = 40; }")
    page.wait_for_function("document.querySelectorAll('#panes > section')[1].scrollTop === 200")


def test_layouts_are_named_and_explained(open_page: Any) -> None:
    page = open_page("gpu", "#view=layouts")
    shown = page.locator("main").inner_text()
    assert "register 2 of thread 5" in shown and "bank 3 of the 32 banks" in shown and "Bank conflicts" in shown
    captions = texts(page, "figcaption")
    assert any(re.search(r"%total\S*.* : 64x64xf32", caption) for caption in captions), captions
    assert page.locator("main table tbody tr").count() > 0, "each access with its conflicts"


def test_versions_side_by_side(open_page: Any) -> None:
    page = open_page("versions", "#view=compare")
    shown = page.locator("#about").inner_text()
    assert "B against A" in shown and "threads of a CTA" in shown and "+100 %" in shown, "8 warps for 4"
    page.get_by_label("text", exact=True).select_option("ttgir")
    assert page.locator("#panes .dropped").count() > 0 and "lines differ" in page.locator("#about").inner_text()
    page.get_by_label("B", exact=True).select_option("2")
    assert page.get_by_label("text", exact=True).input_value() in ("source", "ttir")
    page.get_by_label("Version").select_option("2")
    assert "cpu" in page.locator("#target").inner_text()


def test_all_of_it_by_keyboard(open_page: Any) -> None:
    page = open_page("cpu")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("o")
    views = [page.locator("nav a[aria-current]").get_attribute("data-view")]
    for key in "jjnk":
        page.keyboard.press(key)
        views.append(page.locator("nav a[aria-current]").get_attribute("data-view"))
    assert views[:3] == ["overview", "step:0", "step:1"] and views[3] != views[4]
    page.locator("#panes section").focus()
    for _ in range(8):
        page.keyboard.press("ArrowDown")
    assert "from rows.py line" in page.locator("#said").inner_text(), "what a line comes from is said"
    page.keyboard.press("Enter")
    assert page.locator("#source .pinned").count() > 0
    page.get_by_role("button", name="Keys").press("Enter")
    assert page.locator("#keys").is_visible()


def test_in_a_notebook(open_page: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    """In a frame without an address and a memory of its own, as `%%tilewright` shows it."""
    notebook = tmp_path / "notebook.html"
    frame = '<iframe sandbox="allow-scripts" style="width:100%;height:640px"'
    notebook.write_text(f'{frame} srcdoc="{escape(pages["cpu"].read_text())}"></iframe>')
    page = open_page(notebook.as_uri())
    shown = page.frame_locator("iframe")
    shown.locator("nav").get_by_role("link", name="asm").click()
    shown.locator("#panes .cursor").filter(has_text="rows:").wait_for()
    assert shown.locator("nav a[aria-current]").get_attribute("data-view") == "text:asm"


NAMELESS = """() => [...document.querySelectorAll("button, select, input, a[href], [tabindex='0']")]
    .filter(one => one.offsetParent)
    .filter(one => !(one.getAttribute("aria-label") || one.innerText || one.labels?.length)).length"""


def test_screen_readers_find_their_way(open_page: Any) -> None:
    """Landmarks, names of all that can be operated, and the place in the list."""
    page = open_page("versions", "#view=step:1")
    for role in ("navigation", "main", "banner"):
        assert page.get_by_role(role).count() == 1, role
    nameless = page.evaluate(NAMELESS)
    assert nameless == 0
    assert page.locator("nav a[aria-current=page]").count() == 1
    assert page.evaluate("document.documentElement.lang") == "en"


CONTRAST = """() => {
  const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(part => {
    part /= 255; return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = one => { for (; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor;
    if (!/, 0\\)$/.test(colour)) return colour; } return "rgb(255, 255, 255)"; };
  let least = 21;
  for (const one of document.querySelectorAll("nav a, nav h2, .code span, .code i, header *, p, td, th")) {
    if (!one.offsetParent || !one.innerText) continue;
    const [first, second] = [light(getComputedStyle(one).color), light(back(one))];
    least = Math.min(least, (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05));
  }
  return least;
}"""


@pytest.mark.parametrize("dark", [False, True])
def test_colours_follow_the_system_and_can_be_read(open_page: Any, dark: bool) -> None:
    page = open_page("gpu", "#view=step:30", dark=dark)
    assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
    assert page.evaluate(CONTRAST) >= 4.5, "the least contrast that WCAG's level AA allows"
    page.keyboard.press("d")
    page.keyboard.press("d")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark", "it is remembered"


def test_phones(open_page: Any) -> None:
    page = open_page("cpu", width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, "nothing hangs over the edge"
    assert page.locator("main").is_visible() and not page.locator("nav").is_visible()
    page.get_by_role("button", name="Passes").click()
    page.locator("nav").get_by_role("link", name="linalg-to-loops").click()
    assert page.locator("main").is_visible() and page.locator("#panes .code").is_visible()
    assert page.locator("main").bounding_box()["width"] == 390
    page.locator("#panes .code > div").nth(40).click()
    page.get_by_role("button", name="Source").click()
    assert page.locator("#source .pinned").count() > 0
    page.goto(page.url.partition("#")[0] + "#view=layouts")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
