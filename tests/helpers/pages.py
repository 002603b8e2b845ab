"""Pages that the library writes, as a browser reads them."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """The text and headings of HTML whose elements are closed; nothing in it runs, or comes from elsewhere."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.headings: list[str] = []
        self.text = ""
        self.feed(html)
        assert not self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img"), tag
        for name, value in attrs:
            assert not name.startswith("on") and (name not in ("src", "href") or (value or "").startswith("#")), attrs
        if tag != "meta":
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack[-1:] == ["h2"]:
            self.headings.append(data)
        if self.stack[-1:] != ["style"]:
            self.text += data
