#!/usr/bin/env python3
"""Makes serve.png: `reprise serve` in a browser's window and on a phone, drawn by headless Chromium.

usage: serve.py REPRISE TRACE PICTURE
"""
import base64
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/viewer/browser"))
import chromium

STYLE = """
body { margin: 0; height: 900px; overflow: hidden; background: linear-gradient(135deg, #43526e, #1d2533); }
div { position: absolute; overflow: hidden; box-shadow: 0 18px 60px #000a; }
#window { left: 40px; top: 34px; width: 1380px; border-radius: 12px; background: #2a2e37; }
#phone { right: 40px; bottom: 34px; width: 270px; border: 9px solid #05070a; border-radius: 34px; }
p { margin: 9px 16px; padding: 6px 16px; border-radius: 16px; background: #191c22; color: #aab0bc; font: 15px Roboto, sans-serif; }
img { display: block; width: 100%; }
"""


def picture(browser, link, state, **size):
    page = chromium.Page(browser, **size)
    page.open(f"{link}&{state}")
    page.wait("document.getElementById('status').hidden && location.hash.includes('graph=')")
    time.sleep(3)
    address, data = page.evaluate("location.host + '/' + location.hash"), page.screenshot()
    page.close()
    return address, "data:image/png;base64," + base64.b64encode(data).decode()


def main(program, trace, file):
    server = subprocess.Popen([program, "serve", trace], stdout=subprocess.PIPE, text=True)
    browser = chromium.Chromium(chromium.find() or sys.exit("no Chromium is installed"))
    with tempfile.TemporaryDirectory() as folder:
        try:
            link = re.search(r"http://\S+", server.stdout.readline())[0]
            address, wide = picture(browser, link, "view=timeline", width=1380, height=776)
            _, narrow = picture(browser, link, "view=graph", width=390, height=844, scale=2, mobile=True, dark=False)
            html = pathlib.Path(folder, "serve.html")
            html.write_text(f'<style>{STYLE}</style><div id="window"><p>{address}</p><img src="{wide}"></div>'
                            f'<div id="phone"><img src="{narrow}"></div>')
            page = chromium.Page(browser, 1600, 900)
            page.open(html.as_uri())
            page.wait("document.images.length === 2 && [...document.images].every(image => image.complete)")
            pathlib.Path(file).write_bytes(page.screenshot())
        finally:
            browser.close()
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
