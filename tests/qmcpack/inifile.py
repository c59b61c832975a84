"""INI files of plugmc as translate.py and factors.py fill them."""


class Unsupported(Exception):
    pass


class Ini:
    def __init__(self):
        self.sections = []
        self.head, self.raw = "", None  # comments before the sections; a text in place of them

    def add(self, title, *lines):
        self.sections.append((title, [line for line in lines if line]))

    def text(self):
        if self.raw is not None:
            return self.head + self.raw
        return self.head + "\n".join("[%s]\n%s" % (title, "".join(line + "\n" for line in lines)) for title, lines in self.sections)


def words(values):
    return " ".join("%.12g" % (v + 0.0) for v in values)
