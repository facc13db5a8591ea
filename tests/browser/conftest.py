"""A real browser for the explorer: Debian's Chromium, driven by Selenium."""

import os
import shutil
import time
import xml.etree.ElementTree as ET

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
)  # fmt: skip


def why_not():
    """Return why there is no browser to test in; an empty text if there is one."""
    if not CHROMIUM or not DRIVER:
        return "Chromium or chromedriver is not there; make browser installs them"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed; make setup does it"
    return ""


class Browser:
    """A browser with one page at a time, and what went wrong in it."""

    def __init__(self, driver, downloads):
        self.driver, self.downloads = driver, downloads

    def open(self, path, hash_="", *, width=1400, height=900, dark=False):
        """Open a file at a size of the window, and wait until it is ready."""
        cdp = self.driver.execute_cdp_cmd
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        cdp("Emulation.setDeviceMetricsOverride", screen)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        cdp("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(path.as_uri() + (f"#{hash_}" if hash_ else ""))
        return self

    def js(self, code, *given):
        """Return what a piece of JavaScript returns."""
        return self.driver.execute_script(code, *given)

    def wait(self, code, *given, seconds=20.0):
        """Return the value of an expression once it is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.js(f"return {code}", *given)
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"not so in {seconds} s: {code}")

    def drawn(self):
        """Wait until the page is painted, whatever is still being computed."""
        self.wait("performance.getEntriesByName('graftwork-ready').length")
        self.js(
            "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        return self

    def settle(self):
        """Wait until nothing is being computed."""
        self.wait("document.querySelector('.badge')?.dataset.waiting !== 'true'")
        self.js(
            "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        return self

    def click(self, selector):
        """Click on an element as a user would."""
        from selenium.webdriver.common.by import By

        self.driver.find_element(By.CSS_SELECTOR, selector).click()
        return self

    def type(self, selector, *keys):
        """Type into an element."""
        from selenium.webdriver.common.by import By

        self.driver.find_element(By.CSS_SELECTOR, selector).send_keys(*keys)
        return self

    def slide(self, selector, value):
        """Move a slider."""
        self.js(
            "const s = document.querySelector(arguments[0]); s.value = arguments[1];"
            "s.dispatchEvent(new Event('input', {bubbles: true}))",
            selector,
            value,
        )
        return self

    def choose(self, selector, value):
        """Choose an option of a list."""
        self.js(
            "const s = document.querySelector(arguments[0]); s.value = arguments[1];"
            "s.dispatchEvent(new Event('change', {bubbles: true}))",
            selector,
            value,
        )
        return self

    def numbers(self, selector):
        """Return the numbers behind what elements show."""
        return self.js(
            "return [...document.querySelectorAll(arguments[0])].map(e => +e.dataset.value)",
            selector,
        )

    def text(self, selector):
        """Return the text of an element."""
        return self.js("return document.querySelector(arguments[0])?.innerText", selector)

    def texts(self, selector):
        """Return the texts of all elements that a selector finds."""
        return self.js(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)", selector
        )

    def state(self):
        """Return what the address says after #."""
        link = self.js("return location.hash.slice(1)")
        return dict(part.split("=", 1) for part in link.split("&") if part)

    def downloaded(self, ending):
        """Return the file that a click has saved."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            files = [file for file in self.downloads.iterdir() if file.suffix == ending]
            if files:
                return files[0]
            time.sleep(0.02)
        raise AssertionError(f"no {ending} file came")

    def svg(self):
        """Return the picture as the page saves it."""
        for file in self.downloads.iterdir():
            file.unlink()
        self.click("#save-svg")
        return ET.fromstring(self.downloaded(".svg").read_text(encoding="utf-8"))

    def complaints(self):
        """Return the errors and warnings of the console, and requests to anywhere."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """One browser for all tests; skipped where there is none, unless one is required."""
    reason = why_not()
    if reason:
        if os.environ.get("GRAFTWORK_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    os.environ["SE_OFFLINE"] = "true"
    downloads = tmp_path_factory.mktemp("downloads")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    preferences = {
        "download.default_directory": str(downloads),
        "download.prompt_for_download": False,
        "profile.default_content_setting_values.automatic_downloads": 1,
    }
    options.add_experimental_option("prefs", preferences)
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior",
        {"behavior": "allow", "downloadPath": str(downloads)},
    )
    yield Browser(driver, downloads)
    driver.quit()


@pytest.fixture
def page(browser):
    """The browser, whose console must be empty in the end."""
    yield browser
    assert browser.complaints() == []
