"""Golden outputs of the real sacct as cells, so that two outputs can be compared byte for byte and
the few cells that must differ be named one by one.

A listing is parsed only to say *where* two outputs differ: `Listing.text()` puts it together again,
and must give the bytes back."""
import pathlib
import re
import shlex

DATA = pathlib.Path(__file__).parents[1] / "data/golden"

# One job has text in it that no delimited output can be split on. (FC-001, FC-004)
ODD = [("näive, a|b", "näive, a\x01b"),
       ('a|b,"c" é\nsecond line', 'a\x01b,"c" é\x02second line')]


class Command:
    def __init__(self, line):
        self.name, status, command = line.rstrip("\n").split("\t")
        self.status = int(status)
        self.user = None
        as_user = re.match(r"# as user (\w+): (.*)", command)
        if as_user:
            self.user, command = as_user.groups()
        self.args = shlex.split(command)
        assert self.args.pop(0) == "sacct"
        text = (DATA / self.name).read_text()
        self.stdout = text.split("\n", 1)[1]
        err = DATA / (self.name + ".err")
        self.stderr = err.read_text() if err.exists() else ""

    def option(self, short, long):
        for i, arg in enumerate(self.args):
            if arg == short:
                return self.args[i + 1]
            if arg.startswith(long + "="):
                return arg.split("=", 1)[1]
        return None

    @property
    def delimited(self):
        return "-P" in self.args or "-p" in self.args


def commands():
    lines = (DATA / "index.tsv").read_text().splitlines()
    return [Command(line) for line in lines if not re.search(r"\t.* --(json|yaml)\b", line)]


def dump():
    """The dump of every field as --delimiter=☃ would have written it: with | the odd job's row can
    be read in several ways, and the importer refuses it."""
    text = (DATA / "sacct-all-fields").read_text().split("\n", 1)[1]
    for odd, placeholder in ODD:
        text = text.replace(odd, placeholder)
    text = text.replace("|", "☃")
    for odd, placeholder in ODD:
        text = text.replace(placeholder, odd)
    return text


class Listing:
    """Header and rows of a table, each row a list of cells."""

    @staticmethod
    def of(command, text, columns=None, narrow=False):
        if command.delimited:
            return Delimited(text, command, columns)
        return Columns(text, narrow)

    def cells(self):
        """{(row key, column): cell}; the key is the JobID, numbered when it comes again."""
        at = self.names.index("JobID")
        seen, out = {}, {}
        for row in self.rows:
            job = row[at].strip()
            seen[job] = seen.get(job, 0) + 1
            for name, cell in zip(self.names, row):
                out[(job, seen[job], name)] = cell
        return out


class Delimited(Listing):
    def __init__(self, text, command, columns):
        for odd, placeholder in ODD:
            text = text.replace(odd, placeholder)
        self.delimiter = command.option("-", "--delimiter") or "|"
        self.ended = "-p" in command.args
        self.no_header = "-n" in command.args
        lines = text.split("\n")
        assert lines.pop() == ""
        table = [self.split(line) for line in lines]
        self.names = columns if self.no_header else table.pop(0)
        self.rows = table
        assert all(len(row) == len(self.names) for row in self.rows), text

    def split(self, line):
        if self.ended:
            assert line.endswith(self.delimiter)
            line = line[:-len(self.delimiter)]
        return line.split(self.delimiter)

    def text(self):
        table = ([] if self.no_header else [self.names]) + self.rows
        end = self.delimiter if self.ended else ""
        text = "".join(self.delimiter.join(row) + end + "\n" for row in table)
        for odd, placeholder in ODD:
            text = text.replace(placeholder, odd)
        return text


class Columns(Listing):
    """The real tool counts bytes (narrow), ours characters."""

    def __init__(self, text, narrow):
        self.unit = (lambda t: t.encode()) if narrow else (lambda t: t)
        self.back = (lambda t: t.decode(errors="surrogateescape")) if narrow else (lambda t: t)
        self.head, dashes, body = text.split("\n", 2)
        self.widths = [len(d) for d in dashes.split(" ")[:-1]]
        self.names = [n.strip() for n in self.slices(self.unit(self.head))]
        assert dashes == "".join("-" * w + " " for w in self.widths)
        raw = self.unit(body)
        length = sum(self.widths) + len(self.widths) + 1
        assert len(raw) % length == 0, f"rows of {length} do not fit {len(raw)}"
        self.rows = [self.slices(raw[i:i + length]) for i in range(0, len(raw), length)]

    def slices(self, row):
        out, at = [], 0
        for width in self.widths:
            out.append(self.back(row[at:at + width]))
            at += width + 1
        return out

    def text(self):
        dashes = "".join("-" * w + " " for w in self.widths)
        rows = ["".join(cell + " " for cell in row) for row in self.rows]
        return "\n".join([self.head, dashes, *rows]) + "\n"
