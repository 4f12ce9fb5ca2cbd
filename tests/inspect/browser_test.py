"""Opens reports in headless Chromium and uses them as a person does: reads, clicks, searches, presses keys, points at
values. Any error in the console fails. browser_test.py SAMPLE_REPORT [FOLDER for screenshots]; exits with 77 where there
is no browser to test with."""

import os
import subprocess
import sys
import tempfile
import time

try:
    from selenium import webdriver
    from selenium.webdriver import ActionChains
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select
except ImportError:
    sys.exit(77)

chromium, driver = "/usr/bin/chromium", "/usr/bin/chromedriver"
if not (os.path.exists(chromium) and os.path.exists(driver)):
    sys.exit(77)

sample, shots = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
folder = tempfile.TemporaryDirectory()


def open_report(name, *arguments):
    path = os.path.join(folder.name, name + ".html")
    with open(path, "wb") as file:
        subprocess.run([sample, *arguments], stdout=file, check=True)
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1500,950",
                     "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder.name}/{name}-profile"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service(driver), options=options)
    began = time.time()
    browser.get("file://" + path)
    print(f"{name}: {os.path.getsize(path) / 1e6:.1f} MB, opened in {time.time() - began:.1f} s")
    return browser


def expect(what, holds):
    print(("ok    " if holds else "WRONG ") + what)
    if not holds:
        raise SystemExit(1)


def shoot(browser, name):
    if shots:
        browser.save_screenshot(os.path.join(shots, name + ".png"))


def no_errors(browser):
    errors = [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    expect(f"nothing in the console {errors}", not errors)


def small():
    page = open_report("small")
    find = lambda css: page.find_element(By.CSS_SELECTOR, css)
    all_of = lambda css: page.find_elements(By.CSS_SELECTOR, css)
    inspector = lambda: find("#inspector").text
    keys = lambda *pressed: ActionChains(page).send_keys(*pressed).perform()
    try:
        expect("title", page.title == "kernel on tpu:v5e")
        expect("the first divergence is named", "First divergence: scaled" in find("#verdict").text)
        expect("it is selected", find("#inspector h1").text == "scaled")
        expect("its fusion is open", len(all_of("#graph [data-name='scaled']")) == 1)
        expect("its standing is its colour", "diverges" in find("#graph [data-name='scaled']").get_attribute("class"))
        expect("the worst element", "[4,9,129]: got 100, expected 64" in inspector())
        expect("the map", len(all_of("#inspector canvas.map")) == 1)
        expect("the space", len(all_of("#inspector canvas.space")) == 1 and "peak at [4,9,100]" in inspector())
        drawn = page.execute_script(
            "const c = document.querySelector('canvas.space'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v, i) => i % 4 === 0 && v > 200);")
        expect("the slice of the peak is shown", "dim 0: 4" in inspector())
        expect("something red is drawn in space", drawn)
        shoot(page, "inspect-light")

        before = page.execute_script("return document.querySelector('canvas.space').toDataURL()")
        ActionChains(page).drag_and_drop_by_offset(find("canvas.space"), 60, 20).perform()
        expect("the space turns", page.execute_script("return document.querySelector('canvas.space').toDataURL()") != before)
        slider = find("#inspector input[type=range]")
        slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        page.execute_script("document.querySelector('canvas.map').scrollIntoView({block: 'center'})")
        ActionChains(page).move_to_element_with_offset(find("canvas.map"), 60, 0).perform()
        expect("values are read at a point", find("#inspector .value").text.startswith("[7,") and "difference" in find("#inspector .value").text)
        Select(find("#inspector select.channel")).select_by_visible_text("got")

        find("#search").send_keys("wave")
        expect("search narrows the list", [row.get_attribute("data-name") for row in all_of("#list .row")] == ["wave"])
        find("#search").clear()
        find("#search").send_keys("x", Keys.BACKSPACE, Keys.ESCAPE)
        expect("and widens it", len(all_of("#list .row")) == 4)
        find("#chips [data-standing='explained']").click()
        expect("chips narrow it", [row.get_attribute("data-name") for row in all_of("#list .row")] == ["out"])
        find("#chips [data-standing='explained']").click()

        find("#graph [data-name='sum']").click()
        expect("a click on the graph selects", find("#inspector h1").text == "sum")
        keys("j")
        expect("j goes on", find("#inspector h1").text == "scaled")
        keys("d")
        expect("d goes to the next that is not as expected", find("#inspector h1").text == "out" and "not rounded" in inspector())
        find("#graph [data-name='nested']").click()
        keys(Keys.ENTER)
        expect("Enter closes a fusion", not all_of("#graph [data-name='scaled']"))
        ActionChains(page).double_click(find("#graph [data-name='nested'] rect")).perform()
        expect("a double click opens it", len(all_of("#graph [data-name='scaled']")) == 1)

        find("#graph [data-name='scaled']").click()
        find("#to-code").click()
        expect("the guilty line is marked", find("#code .row.guilty").get_attribute("data-line") == "200")
        keys("t")
        expect("dark", "dark" in find("html").get_attribute("class"))
        shoot(page, "inspect-code-dark")
        keys("b")
        expect("graph and code are beside each other", find("#graph").is_displayed() and find("#code .row.guilty").is_displayed())
        shoot(page, "inspect-dark")
        keys("g")
        expect("the graph alone", not find("#code").is_displayed())
        keys("?")
        expect("help", find("#help").is_displayed())
        find("#help button").click()
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        expect("a printer gets the table", find("#printed").is_displayed() and not find("main").is_displayed())
        no_errors(page)
    finally:
        page.quit()


def large():
    page = open_report("large", "5900")
    find = lambda css: page.find_element(By.CSS_SELECTOR, css)
    try:
        expect("5,900 instructions: the wrong one is shown", find("#inspector h1").text == "v5900")
        expect("it can be seen in the graph", len(page.find_elements(By.CSS_SELECTOR, "#graph [data-name='v5900']")) == 1)
        expect("the rest is not in the page", len(page.find_elements(By.CSS_SELECTOR, "#graph .node")) < 3000)
        expect("of 2^20 elements the wrong one is there", "peak at [777,333]" in find("#inspector").text)
        began = time.time()
        find("#graph-fit").click()
        find("#search").send_keys("v4711")
        expect(f"found in {time.time() - began:.1f} s", len(page.find_elements(By.CSS_SELECTOR, "#list .row")) == 1)
        find("#list .row").click()
        expect("and shown", find("#inspector h1").text == "v4711")
        shoot(page, "inspect-large")
        no_errors(page)
    finally:
        page.quit()


small()
large()
