# SPDX-License-Identifier: MIT
"""Single changes to C source: where one can be made in a file, and what stands there afterwards.

Sources are not parsed. What counts is the text of function bodies, with comments, strings and preprocessor lines blanked
out, and the kernel style in which this tree is written: one statement a line, tabs for indentation.
"""
import glob
import re
from typing import NamedTuple


class Site(NamedTuple):
    """One possible change: characters [first, last) of a line (counted from 0) become `new`."""
    operator: str
    line: int
    first: int
    last: int
    new: str


# How often each operator is drawn, where a file offers all of them.
WEIGHTS = {'relation': 5, 'delete': 6, 'constant': 4, 'connective': 4, 'negate': 4, 'arithmetic': 4, 'leave': 4,
           'fence': 2, 'enumerator': 2, 'extreme': 1}

# Lines that only inform people, or that no test could tell from their opposite.
UNTESTABLE = re.compile(
    r'static_assert|likely\(|prefetch|\blog_|_log\(|printf|\bsay(_once)?\(|warn|dev_(err|info|dbg)|drm_(dbg|err)|\bpr_|trace_|'
    r'__attribute__|\bassert\(|WARN_ON|lockdep|strerror|seq_')
FENCE = re.compile(
    r'\w*(fence|release|acquire|barrier|_mb|wmb|rmb|publish|flush|invalidate|lock|sync|scrub|order)\w*\(.*\);')
DECLARATION = re.compile(
    r'(const|volatile|unsigned|static|struct|union|enum|bool|char|int|long|float|double|void|size_t|ssize_t|'
    r'u?int\d+_t|[us]\d+|__\w+|tutti_\w+_t)\b')
OTHER_RELATION = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '=='}
OTHER_SIGN = {'+': '-', '-': '+', '+=': '-=', '-=': '+='}


def blanked(text):
    """The text with comments, strings and preprocessor lines replaced by blanks, so that columns stay as they were."""
    def blank(match):
        return re.sub(r'[^\n]', ' ', match.group(0))
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)
    text = re.sub(r'(__builtin_expect\([^;\n]*?, )[01]\)', r'\1 )', text)  # only a hint
    text = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', blank, text, flags=re.M)
    return re.sub(r'\bextern\s*\{', blank, text)  # functions of C++ programs are functions, too


def body_lines(code):
    """Numbers of the lines that lie inside functions: in braces that follow a closing parenthesis."""
    depth, inside, last, lines = 0, False, '', set()
    for number, line in enumerate(code.split('\n')):
        if inside and depth:
            lines.add(number)
        for character in line:
            if character == '{':
                if not depth:
                    inside = last == ')'
                depth += 1
            elif character == '}':
                depth -= 1
            if not character.isspace():
                last = character
    return lines


def enumerators(patterns):
    """For each enumerator of these files the next one of its enum."""
    following = {}
    for path in (f for p in patterns for f in glob.glob(p, recursive=True)):
        with open(path, errors='replace') as file:
            code = blanked(file.read())
        for enum in re.finditer(r'\benum\b[^{;()]*\{(.*?)\}', code, re.S):
            names = re.findall(r'\b([A-Z][A-Z0-9_]{3,})\b\s*(?:=[^,]*)?(?:,|$)', enum.group(1), re.M)
            for i, name in enumerate(names if len(names) > 1 else []):
                following[name] = names[(i + 1) % len(names)]
    return following


def closing(line, opening):
    """Where the parenthesis that opens at this column closes, or None if it does so in another line."""
    depth = 0
    for column in range(opening, len(line)):
        depth += (line[column] == '(') - (line[column] == ')')
        if not depth:
            return column
    return None


def of_tokens(number, line, raw, following):
    """Changes of single tokens and of conditions."""
    for m in re.finditer(r'(?<![<>=!\-+*/&|^%])(<=|>=|==|!=|<|>)(?![<>=])', line):
        yield Site('relation', number, *m.span(), OTHER_RELATION[m.group(1)])
    for m in re.finditer(r'(?<![\w.])(0|[1-9]\d*)([uUlL]*)(?![\w.])', line):
        value = int(m.group(1))
        yield Site('constant', number, *m.span(), f'{value + 1}{m.group(2)}')
        if value:
            yield Site('constant', number, *m.span(), f'{value - 1}{m.group(2)}')
    for m in re.finditer(r'&&|\|\|', line):
        yield Site('connective', number, *m.span(), '||' if m.group(0) == '&&' else '&&')
    for m in re.finditer(r'\b(?:if|while) (\()', line):
        last = closing(line, m.start(1))
        if last:
            yield Site('negate', number, m.start(1), last + 1, f'(!{raw[m.start(1):last + 1]})')
    for m in re.finditer(r'(?<=[\w)\]]) ([+-]|\+=|-=) (?=[\w(*&])', line):
        yield Site('arithmetic', number, *m.span(1), OTHER_SIGN[m.group(1)])
    for m in re.finditer(r'\b[A-Z][A-Z0-9_]{3,}\b', line):
        if m.group(0) in following:
            yield Site('enumerator', number, *m.span(), following[m.group(0)])
    for m in re.finditer(r'\b\w*?(min|max|MIN|MAX)(?:_t|3)?\(', line):
        yield Site('extreme', number, *m.span(1), {'min': 'max', 'max': 'min', 'MIN': 'MAX', 'MAX': 'MIN'}[m.group(1)])


def of_statement(number, line, before):
    """The whole line as a statement that is left out."""
    m = re.fullmatch(r'(\t+)([A-Za-z_*(][^;{}]*;)\s*', line)
    if not m or m.group(2).count('(') != m.group(2).count(')'):
        return
    statement = m.group(2)
    if re.match(r'goto \w+;|(break|continue|return)\b', statement):
        if re.match(r'(\} )?(else )?if\b.*\)$|(\} )?else$', before):
            yield Site('leave', number, *m.span(2), '{}')
    elif before and before[-1] not in ';{}:)' and before != 'else' or DECLARATION.match(statement):
        return
    elif FENCE.fullmatch(statement):
        yield Site('fence', number, *m.span(2), '{}')
    elif re.fullmatch(r'[\w>.\-]+\(.*\);', statement) or re.search(r'[^=!<>]=[^=]|\+\+|--', statement):
        yield Site('delete', number, *m.span(2), '{}')


def sites(path, following):
    """All changes of a file by operator, and how many lines of functions it has."""
    with open(path) as file:
        text = file.read()
    code, raw = blanked(text), text.split('\n')
    lines, body = code.split('\n'), body_lines(code)
    found = {}
    for number in sorted(body):
        if not lines[number].strip() or UNTESTABLE.search(raw[number]):
            continue
        before = lines[number - 1].strip()
        for site in (*of_tokens(number, lines[number], raw[number], following),
                     *of_statement(number, lines[number], before)):
            found.setdefault(site.operator, []).append(site)
    return found, len(body)
