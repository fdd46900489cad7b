#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens `report --html` in Chromium and tests all its functions.

proof_html.py BUILD_DIRECTORY TRACES. Chromium is found in PATH; AXE names axe.min.js, or it is
searched next to the interpreter (PyPI: axe-playwright-python). PICTURES names a folder for
screenshots.
"""
import base64
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

LONGEST_WAIT = 60


class Browser:
    """Speaks DevTools over two pipes: no port, no library."""

    def __init__(self, folder):
        to_browser, self.out = os.pipe()
        self.input, from_browser = os.pipe()

        def give_pipes():
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        saved = [os.dup(fd) for fd in (to_browser, from_browser)]
        to_browser, from_browser = saved
        self.child = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--user-data-dir=" + folder, "about:blank"],
            pass_fds=(3, 4) + tuple(saved), preexec_fn=give_pipes, stderr=subprocess.DEVNULL)
        self.stream = os.fdopen(self.input, "rb", 0)
        self.number = 0
        self.rest = b""
        self.events = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = [t for t in targets if t["type"] == "page"][0]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        while b"\0" not in self.rest:
            data = self.stream.read(1 << 16)
            if not data:
                raise RuntimeError("the browser is gone")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def wait_for(self, method):
        for event in self.events:
            if event.get("method") == method:
                return event
        while True:
            event = self.receive()
            self.events.append(event)
            if event.get("method") == method:
                return event

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url="file://" + path)
        self.wait_for("Page.loadEventFired")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:500])
        return result["result"].get("value")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode={"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38}.get(key, 0),
                      text="\r" if key == "Enter" and kind == "keyDown" else "")

    def resize(self, width):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)

    def picture(self, path):
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        with open(path, "wb") as out:
            out.write(base64.b64decode(shot["data"]))


class Claims:
    def __init__(self):
        self.passed = self.failed = 0

    def hold(self, name, good, seen=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print("FAILED %s %s" % (name, seen))


def find_axe():
    if os.environ.get("AXE"):
        return os.environ["AXE"]
    found = glob.glob(os.path.join(sys.prefix, "lib/python3*/site-packages/**/axe.min.js"), recursive=True)
    return found[0] if found else None


def check_alone(browser, claims, name):
    requests = [e for e in browser.events if e.get("method") == "Network.requestWillBeSent"]
    urls = [e["params"]["request"]["url"] for e in requests]
    claims.hold(name + ": one request", len(urls) == 1, urls)
    errors = [e for e in browser.events if e.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown")]
    claims.hold(name + ": nothing on the console", not errors, json.dumps(errors)[:400])


def check_widths(browser, claims, name, pictures):
    for width in (390, 1280, 1920):
        browser.resize(width)
        wide = browser.value("document.documentElement.scrollWidth")
        claims.hold("%s: fits %d columns of pixels" % (name, width), wide <= width, wide)
        if pictures:
            browser.picture(os.path.join(pictures, "%s-%d.png" % (name, width)))


def check_controls(browser, claims, name):
    shown = "[...document.querySelectorAll('.f')].filter(e => !e.hidden).length"
    n_all = browser.value(shown)
    claims.hold(name + ": frames", n_all > 3, n_all)
    deep = "[...document.querySelectorAll('.f')].sort((a, b) => parseFloat(b.style.top) - parseFloat(a.style.top))[0]"
    browser.value(deep + ".focus()")
    browser.press("Enter")
    n_near = browser.value(shown)
    claims.hold(name + ": Enter narrows the view", 0 < n_near < n_all, (n_near, n_all))
    focused = "parseFloat(document.activeElement.style.top)"
    depth = browser.value(focused)
    browser.press("ArrowUp")
    claims.hold(name + ": an arrow moves to the caller", browser.value(focused) == depth - 2)
    browser.press("Escape")
    claims.hold(name + ": Escape widens it", browser.value(shown) == n_all)
    browser.value("document.getElementById('search').focus()")
    browser.call("Input.insertText", text=browser.value(deep + ".textContent.slice(0, 6)"))
    claims.hold(name + ": search marks", browser.value("document.querySelectorAll('.f.hit').length") > 0)
    found = browser.value("document.getElementById('found').textContent")
    claims.hold(name + ": search counts", "% of the time" in found, found)
    browser.value("{let p = document.getElementById('part'); p.value = 'p3'; p.dispatchEvent(new Event('change'))}")
    others = browser.value("document.querySelectorAll('.f.p0:not(.far), .f.p5:not(.far)').length")
    claims.hold(name + ": one part alone", others == 0, others)
    browser.value("document.getElementById('reset').click()")
    claims.hold(name + ": Reset", browser.value("document.querySelectorAll('.hit, .far').length") == 0)


def check_axe(browser, claims, name, axe):
    if not axe:
        print("SKIPPED axe (PyPI: axe-playwright-python)")
        return
    browser.value(open(axe, encoding="utf-8").read() + ";0")
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        result = browser.value("axe.run().then(r => r.violations.map("
                               "v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(' | ')))")
        claims.hold("%s: axe, %s" % (name, scheme), not result, result)
    browser.call("Emulation.setEmulatedMedia", features=[])


def check_policy(browser, claims, name):
    """Content that a name could inject into the page would not run."""
    browser.value("window.reached = 0; document.body.insertAdjacentHTML('beforeend',"
                  " '<img src=x onerror=\"window.reached = 1\">');"
                  " {let s = document.createElement('script'); s.textContent = 'window.reached = 2';"
                  " document.body.append(s)}")
    reached = browser.value("new Promise(r => setTimeout(() => r(window.reached), 300))")
    claims.hold(name + ": no foreign script runs", reached == 0, reached)


def check_without_script(browser, claims, name, path):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(path)
    text = browser.value("document.body.innerText")
    for words in ("What to change", "How it was measured", "Stacks"):
        claims.hold("%s: without script: %s" % (name, words), words in text)
    wide = browser.value("document.documentElement.scrollWidth <= innerWidth")
    claims.hold(name + ": without script: fits", wide)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


def check_page(browser, claims, name, path, pictures):
    browser.open(path)
    check_alone(browser, claims, name)
    claims.hold(name + ": at most 150 KB packed",
                len(subprocess.run(["gzip", "-c", path], stdout=subprocess.PIPE, check=True).stdout) <= 150000)
    check_widths(browser, claims, name, pictures)
    check_controls(browser, claims, name)
    check_axe(browser, claims, name, find_axe())
    check_policy(browser, claims, name)
    check_without_script(browser, claims, name, path)


def main():
    build, traces = sys.argv[1:3]
    if not shutil.which("chromium"):
        print("SKIPPED the page in a browser (Debian: chromium)")
        return 0
    claims = Claims()
    work = tempfile.mkdtemp(prefix="trainprof-html-")
    trainprof = os.path.join(build, "trainprof")
    os.environ["PATH"] = os.path.join(build, "programs") + ":" + os.environ["PATH"]
    runs = {"steps": ["run", "-q", "--summary=none", "-o", work + "/steps", "--", "trainer", "--data", "pictures",
                      "--marks", "phases", "--steps", "200"]}
    for trace in ("kineto-r50-w0-s5.json.gz", "param-dlrm-8ranks.tar.gz"):
        if os.path.exists(os.path.join(traces, trace)):
            name = trace.split("-")[0]
            runs[name] = ["import", "-q", "-o", work + "/" + name, os.path.join(traces, trace)]
    browser = Browser(work + "/profile")
    try:
        for domain in ("Page", "Network", "Log", "Runtime"):
            browser.call(domain + ".enable")
        for name, command in runs.items():
            # The trainer leaves its pictures in its working directory.
            subprocess.run([trainprof] + command, cwd=work, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=True)
            path = "%s/%s.html" % (work, name)
            subprocess.run([trainprof, "report", "--html", "-o", path, work + "/" + name], check=True)
            check_page(browser, claims, name, path, os.environ.get("PICTURES"))
    finally:
        browser.child.terminate()
        browser.child.wait(LONGEST_WAIT)
        shutil.rmtree(work, ignore_errors=True)
    print("html: %d passed, %d failed" % (claims.passed, claims.failed))
    return claims.failed != 0


if __name__ == "__main__":
    sys.exit(main())
