"""Opens a page in Chromium without a window, at widths of a telephone and of a desk, light and dark, and fails if
the browser complains, if anything but the page itself is asked for, or if the page is wider than the window.

    browser.py PAGE.html [PICTURE.png WIDTH light|dark]     exit code 77: no browser here
"""
import base64
import json
import os
import shutil
import sys

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    sys.exit(77)
driver_path = shutil.which("chromedriver")
if not driver_path:
    sys.exit(77)


def start():
    options = Options()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(driver_path), options=options)


def show(driver, url, width, colours):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": colours}]})
    driver.get(url)


def requests(driver):
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            yield message["params"]["request"]["url"]


def look(driver, url):
    faults = []
    colours_seen = set()
    for width in (390, 1440):
        for colours in ("light", "dark"):
            show(driver, url, width, colours)
            where = f"{width} pixels, {colours}: "
            faults += [where + entry["message"] for entry in driver.get_log("browser")]
            faults += [where + "it asks for " + asked[:200] for asked in requests(driver)
                       if asked != url and not asked.startswith("data:")]
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            if wide > width:
                faults.append(where + f"it is {wide} pixels wide")
            colours_seen.add(driver.execute_script("return getComputedStyle(document.body).backgroundColor"))
            ids = driver.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
            if len(ids) != len(set(ids)):
                faults.append(where + "ids are not unique")
            invisible = driver.execute_script(
                "return [...document.querySelectorAll('figure')].filter(f => f.getBoundingClientRect().height < 50)"
                ".length")
            if invisible:
                faults.append(where + f"{invisible} figures have no height")
    if len(colours_seen) != 2:
        faults.append("light and dark look the same")
    return faults


def main():
    url = "file://" + os.path.abspath(sys.argv[1])
    driver = start()
    try:
        if len(sys.argv) > 2:
            width = int(sys.argv[3])
            show(driver, url, width, sys.argv[4])
            height = driver.execute_script("return document.documentElement.scrollHeight")
            clip = {"x": 0, "y": 0, "width": width, "height": min(height, 2600), "scale": 1}
            picture = driver.execute_cdp_cmd("Page.captureScreenshot",
                                             {"format": "png", "captureBeyondViewport": True, "clip": clip})
            with open(sys.argv[2], "wb") as out:
                out.write(base64.b64decode(picture["data"]))
            return 0
        faults = look(driver, url)
    finally:
        driver.quit()
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
