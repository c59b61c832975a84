"""Links of a page to files beside docs/ are words in the site, which has no such files."""

import posixpath
import re


def on_page_markdown(markdown, page, **_):
    folder = posixpath.dirname(page.file.src_uri)

    def inside(match):
        target = posixpath.normpath(posixpath.join(folder, match.group(2).split("#")[0]))
        return match.group(1) if target.startswith("..") else match.group(0)

    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)", inside, markdown)
