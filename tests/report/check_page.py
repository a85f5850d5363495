#!/usr/bin/env python3
"""check_page.py PAGE...: a report's page is well-formed, loads nothing, and its policy names its script and no other."""
import base64
import hashlib
import re
import sys
from html.parser import HTMLParser

EMPTY = {"meta", "link", "br", "img"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.problems = [], [], [], []
        self.scripts, self.policy = [], ""

    def handle_starttag(self, tag, attributes):
        self.look_at(tag, dict(attributes))
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attributes):
        self.look_at(tag, dict(attributes))

    def look_at(self, tag, attributes):
        if "id" in attributes:
            self.ids.append(attributes["id"])
        # The cells of a large map are a picture inside of the page.
        is_picture = tag == "image" and attributes.get("href", "").startswith("data:image/png;base64,")
        if "href" in attributes and not is_picture:
            self.links.append(attributes["href"])
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        for name in attributes:
            if name in ("src", "srcset", "action", "xlink:href") or name.startswith("on"):
                self.problems.append(f"<{tag}> has {name}")
        if tag in ("link", "iframe", "object", "embed", "base", "img"):
            self.problems.append(f"there is a <{tag}>")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"line {self.getpos()[0]}: </{tag}> closes nothing")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        if self.open and self.open[-1] == "style" and re.search(r"@import|url\(", data):
            self.problems.append("the style sheet loads something")


def problems_of(text):
    page = Page()
    page.feed(text)
    page.close()
    problems = page.problems + [f"<{tag}> is not closed" for tag in page.open]
    problems += [f"id {each} twice" for each in {i for i in page.ids if page.ids.count(i) > 1}]
    problems += [f"link to {each}" for each in page.links if each[:1] != "#" or each[1:] not in page.ids]
    if len(page.scripts) != 1:
        return problems + [f"{len(page.scripts)} scripts"]
    digest = base64.b64encode(hashlib.sha256(page.scripts[0].encode()).digest()).decode()
    if f"script-src 'sha256-{digest}';" not in page.policy:
        problems.append("the policy does not name the script")
    if not page.policy.startswith("default-src 'none';"):
        problems.append("the policy allows what it does not name")
    return problems


def main():
    failed = False
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            for problem in problems_of(file.read()):
                print(f"{name}: {problem}")
                failed = True
    sys.exit(1 if failed else 0)


main()
