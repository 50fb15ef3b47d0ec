"""The page in a browser: headless Chromium, driven by Playwright. Skipped where either is missing."""

from __future__ import annotations

import shutil

import numpy as np
import pandas as pd
import pytest

from rio_uq import RIORegressor
from rio_uq.report import write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install '.[browser]'")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.processes,
    pytest.mark.no_cover,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
]

EVIL = "<script>alert(1)</script>"


def first_column(X):
    return np.asarray(X)[:, 0].astype(float)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def path(table, tmp_path_factory):
    """A report with a hostile column, texts and gaps."""
    X = table[0].rename(columns={"b": EVIL})
    X["city"] = np.tile(["Paris", "Köln", None], 300)
    features = ["a", EVIL, "c"]
    rio = RIORegressor(first_column, features=features, random_state=0, tol=1e-4).fit(X[:300], table[1][:300])
    return write_report(rio, X[300:], table[1][300:], tmp_path_factory.mktemp("report") / "report.html")


class Tab:
    """A tab of the browser, which keeps what pages complain of and what they ask for."""

    def __init__(self, browser, **options):
        self.page = browser.new_context(**options).new_page()
        self.complaints, self.file = [], None
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("a dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.is_expected(request.url) or self.complaints.append(request.url))

    def is_expected(self, url):
        return url in (self.file.as_uri(), "data:,")

    def open(self, file, width=1280, height=900, color_scheme="light"):
        self.file = file
        self.page.mouse.move(0, 0)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(media="null", color_scheme=color_scheme)
        self.page.goto(file.as_uri())
        return self.page

    def leave(self):
        """Fails if the page complained, asked for anything, or is wider than the window."""
        self.page.wait_for_timeout(50)
        fits = self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        self.page.goto("about:blank")
        complaints, self.complaints, self.file = self.complaints, [], None
        assert complaints == []
        assert fits


@pytest.fixture(scope="module")
def tab(browser):
    """One for all tests: another would be another process, which costs more than the page."""
    return Tab(browser)


@pytest.fixture
def opened(tab):
    """Opens a file anew, and takes leave of it."""

    def open_page(file, **options):
        if tab.file is not None:
            tab.leave()
        return tab.open(file, **options)

    yield open_page
    tab.leave()


def plot(page, kind, index=0):
    return page.locator(f'[data-chart="{kind}"][data-index="{index}"] > svg')


def column(page, place):
    return page.locator(f"#table tbody tr > :nth-child({place + 1})").all_inner_texts()


def numbers(texts):
    return [float(text.replace("−", "-").replace(",", "")) for text in texts]


def test_all_plots_are_drawn_with_text_alternatives(opened, path):
    page = opened(path)
    charts, drawn = page.locator(".chart"), page.locator(".chart > svg")
    assert charts.count() == drawn.count() > 12
    for label in drawn.evaluate_all("all => all.map((svg) => svg.getAttribute('aria-label'))"):
        assert len(label) > 20
    places = page.locator(".chart svg *").evaluate_all("all => all.flatMap(e => [...e.attributes].map(a => a.value))")
    assert not [place for place in places if "NaN" in place or "undefined" in place or "Infinity" in place]
    assert page.locator(".answer").count() == 5
    assert page.locator("figure").count() == page.locator("figcaption").count()


def test_a_hostile_column_shows_as_text(opened, path):
    page = opened(path)
    assert page.locator("#table thead button", has_text=EVIL).count() == 1
    assert page.locator("script").count() == 2
    assert EVIL in page.locator("#errors .answer").inner_text()
    plot(page, "outcomes").scroll_into_view_if_needed()
    plot(page, "outcomes").focus()
    page.keyboard.press("Home")
    assert EVIL in page.locator("#tip").inner_text()
    assert page.locator("#tip script").count() == 0


def test_sorting(opened, path):
    page = opened(path)
    std = numbers(column(page, 4))
    assert std == sorted(std, reverse=True)
    heads = page.locator("#table thead th")
    assert heads.nth(4).get_attribute("aria-sort") == "descending"
    heads.nth(4).locator("button").click()
    std = numbers(column(page, 4))
    assert std == sorted(std)
    assert heads.nth(4).get_attribute("aria-sort") == "ascending"
    heads.nth(2).locator("button").focus()
    page.keyboard.press("Enter")
    correction = numbers(column(page, 2))
    assert correction == sorted(correction, key=abs, reverse=True)
    page.keyboard.press("Enter")
    correction = numbers(column(page, 2))
    assert correction == sorted(correction, key=abs)
    assert min(correction) < 0.0 < max(correction)
    assert heads.nth(4).get_attribute("aria-sort") is None
    heads.last.locator("button").click()
    assert set(column(page, 12)) == {"Köln"}
    while page.locator("#next").is_enabled():
        page.locator("#next").click()
    assert column(page, 12)[-1] == "–"  # what is missing comes last


def test_filtering(opened, path):
    page = opened(path)
    found, query = page.locator("#found"), page.locator("#filter")
    n_all = int(found.inner_text().split()[0])
    query.fill("paris")
    n_paris = int(found.inner_text().split()[0])
    assert 0 < n_paris < n_all
    assert set(column(page, 12)) == {"Paris"}
    query.fill("std > 0.3")
    assert min(numbers(column(page, 4))) > 0.3
    query.fill(f"{EVIL} <= 0.5")
    assert max(numbers(column(page, 10))) <= 0.5
    query.fill("nothing like this")
    assert found.inner_text() == f"0 of {n_all} rows"
    assert page.locator("#table tbody tr").count() == 0
    query.fill("std > much")
    assert found.inner_text() == "not understood: column > number"
    query.fill("1 < 2")
    assert found.inner_text() == "not understood: column > number"
    query.fill("std < 1,000")
    assert found.inner_text() == f"{n_all} of {n_all} rows"
    query.fill(f"{page.locator('#table thead th').nth(12).inner_text()} = paris")
    assert found.inner_text() == f"{n_paris} of {n_all} rows"
    query.fill("")
    page.locator("#kind").select_option("outside")
    outcome, low, high = (numbers(column(page, place)) for place in (7, 5, 6))
    assert all(y <= a or y >= b for y, a, b in zip(outcome, low, high, strict=True))
    page.locator("#kind").select_option("uncertain")
    assert found.inner_text() == f"250 of {n_all} rows"


def test_pages_of_the_table(opened, path):
    page = opened(path)
    assert page.locator("#previous").is_disabled()
    first = column(page, 0)
    assert len(first) == 20
    page.locator("#next").click()
    assert not set(first) & set(column(page, 0))
    assert page.locator("#page").inner_text().startswith("Page 2 of")


def test_the_slider_says_what_rejection_does(opened, path):
    page = opened(path)
    data = page.evaluate("JSON.parse(document.getElementById('data').textContent).rejection")
    verdict, slider = page.locator("#verdict"), page.locator("#slider")
    assert verdict.inner_text().startswith("Reject 10 % → RMSE")
    slider.focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    text = verdict.inner_text()
    assert text.startswith("Reject 30 % → RMSE")
    assert float(text.split()[5]) == pytest.approx(data["rmse"][30], rel=5e-3)
    assert f"{data['n_kept'][30]} rows are kept" in text
    mark = plot(page, "rejection").locator("circle.mark")
    there = float(mark.get_attribute("cx"))
    page.keyboard.press("End")
    assert float(mark.get_attribute("cx")) > there
    assert verdict.inner_text().startswith("Reject 95 %")


def test_the_pointer_shows_the_row(opened, path):
    page = opened(path)
    tip = page.locator("#tip")
    assert tip.is_hidden()
    dot = plot(page, "outcomes").locator(".dot").nth(17)
    dot.scroll_into_view_if_needed()
    dot.hover(force=True)
    assert tip.is_visible()
    text = tip.inner_text()
    assert text.startswith("Row ")
    assert "90 % interval" in text
    assert "city" in text
    # The same row is marked in the other plots of rows.
    assert page.locator("svg .echo").count() == 2
    page.mouse.move(5, 5)
    assert tip.is_hidden()


def test_plots_work_by_keyboard(opened, path):
    page = opened(path)
    chart, tip, live = plot(page, "reliability"), page.locator("#tip"), page.locator("#live")
    assert chart.get_attribute("tabindex") == "0"
    chart.focus()
    page.keyboard.press("ArrowRight")
    assert tip.inner_text().startswith("5 % intervals")
    page.keyboard.press("ArrowRight")
    assert tip.inner_text().startswith("10 % intervals")
    assert live.inner_text().startswith("10 % intervals, hold")
    page.keyboard.press("End")
    assert tip.inner_text().startswith("99 % intervals")
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    groups = plot(page, "coverage-by")
    groups.focus()
    page.keyboard.press("ArrowDown")
    assert "rows" in tip.inner_text()


def test_everything_can_be_reached_by_tab(opened, path):
    page = opened(path)
    page.locator(".skip").focus()
    seen = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.parentNode.dataset?.chart || ''"))
    expected = {"theme", "kind", "filter", "next", "slider", "before-after", "reliability", "outcomes", "errors-by"}
    assert expected <= seen


def test_the_level_of_coverage_in_groups_can_be_chosen(opened, path):
    page = opened(path)
    assert "90 % intervals" in plot(page, "coverage-by").text_content()
    page.locator(".levels label", has_text="68 %").click()
    assert "68 % intervals" in plot(page, "coverage-by", 1).text_content()


def test_light_and_dark(opened, path):
    colour = "getComputedStyle(document.body).backgroundColor"
    page = opened(path)
    light = page.evaluate(colour)
    button = page.locator("#theme")
    button.click()
    dark = page.evaluate(colour)
    assert sum(map(int, dark[4:-1].split(", "))) < 120 < 600 < sum(map(int, light[4:-1].split(", ")))
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert page.evaluate(colour) == light
    by_system = opened(path, color_scheme="dark")
    assert by_system.evaluate(colour) == dark
    by_system.locator("#theme").click()
    assert by_system.evaluate(colour) == light


@pytest.mark.parametrize("width", [320, 768])
def test_narrow_screens(opened, path, width):
    page = opened(path, width=width, height=844)
    for box in page.locator(".chart > svg").evaluate_all("all => all.map((svg) => svg.getBoundingClientRect().right)"):
        assert box <= width
    size = page.locator(".chart > svg text").first.evaluate("(text) => text.getBoundingClientRect().height")
    assert size > 10  # letters are not shrunk with the plot


def test_it_prints(opened, path):
    page = opened(path, color_scheme="dark")
    pdf = page.pdf(format="A4", print_background=True)
    assert pdf.startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#filter").is_hidden()
    assert page.locator("#verdict").is_visible()


def test_without_scripts_answers_and_numbers_are_there(browser, path):
    tab = Tab(browser, java_script_enabled=False)
    page = tab.open(path)
    assert page.locator(".answer").first.is_visible()
    assert page.locator("noscript").is_visible()
    details = page.locator("details", has_text="Numbers: reliability")
    details.locator("summary").click()
    assert details.locator("td").first.is_visible()
    assert details.locator("tbody tr").count() == 21
    tab.leave()


@pytest.mark.parametrize("case", ["two rows", "constant", "output kernel", "exact"])
def test_odd_data_are_drawn_without_complaint(opened, table, tmp_path, case):
    X, y = table
    options = {"random_state": 0, "tol": 1e-3, "training": {"starts": "rio"}, "noise": "constant"}
    model = (lambda rows: np.zeros(len(rows))) if case == "constant" else first_column
    rio = RIORegressor(model, kernel="output" if case == "output kernel" else "io", **options).fit(X[:60], y[:60])
    rows = slice(300, 302 if case == "two rows" else 400)
    outcome = X["a"][rows] if case == "exact" else y[rows]
    page = opened(write_report(rio, X[rows], outcome, tmp_path / "report.html"))
    assert page.locator(".chart > svg").count() == page.locator(".chart").count()
    assert "NaN" not in page.locator("main").inner_text()


def test_many_rows_and_columns(opened, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(10_000, 50)), columns=[f"a column with a name {i}" for i in range(50)])
    y = X.iloc[:, 0] + np.sin(2.0 * X.iloc[:, 1]) + 0.3 * rng.normal(size=10_000)
    rio = RIORegressor(first_column, random_state=0, tol=1e-2, training={"starts": "rio"}, noise="constant").fit(
        X[:100], y[:100]
    )
    file = write_report(rio, X[100:], y[100:], tmp_path / "report.html")
    assert file.stat().st_size < 6 * 2**20
    page = opened(file)
    assert "Plots of single rows show 2,000 of them" in page.locator("aside").inner_text()
    assert page.locator("#table thead th").count() == 9 + 40
