#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes one place of the sources at a time and sees whether a test notices (REL-13); see the README of this folder.

Works on a copy of the tree with all that is built, under build/mutate/AREA. The same seed makes the same changes.
"""
import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from areas import AREAS, programs, sources
from operators import WEIGHTS, Site, enumerators, sites
from reach import Reach

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.getcwd()
TARGET = 92  # per cent, REL-13
LIKELY = 4  # so many programs, which notice most changes, are linked one by one, all others at once
MAKE = ['make', '-s', '-k', '-j2', 'WARN=-w', 'MAKELEVEL=1']


def options():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--area', choices=AREAS, default='firmware')
    parser.add_argument('--seed', type=int, nargs='+', default=[1], help='each draws changes of its own')
    parser.add_argument('--count', type=int, default=40, help='changes of each seed that tests are asked to notice')
    parser.add_argument('--seconds', type=float, default=1e9, help='begin no further change after this time')
    parser.add_argument('--only', default='', help='expression of the files to change')
    parser.add_argument('--quick', action='store_true', help='ask only the programs that are linked with the change')
    parser.add_argument('--list', action='store_true', help='print the changes and make none')
    parser.add_argument('--again', default='', help='make only the changes that survived in this earlier --out')
    parser.add_argument('--out', default='', help='one JSON object a line for each change')
    return parser.parse_args()


def run(command, limit, where='.'):
    """Exit status and output; the status is 'hang' for what had to be stopped."""
    environment = dict(os.environ, TUTTI_OUT='build', CMOCKA_MESSAGE_OUTPUT='STDOUT',
                       ASAN_OPTIONS='detect_leaks=1:detect_stack_use_after_return=0')
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=environment, start_new_session=True, cwd=where)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output.decode(errors='replace')
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return 'hang', ''


def make(goals, limit):
    """The same as run() for what is to be built. Programs with sanitizers have a build of their own."""
    status, output = 0, ''
    for asan in (False, True):
        part = [g for g in goals if ('/asan/' in g) == asan]
        if part and not status:
            status, output = run([*MAKE, *([f'ASAN_BINS={" ".join(part)}', 'check-asan-build'] if asan else part)], limit)
    return status, output


def copy_tree(name):
    """A copy of the tree with what is built, so that nobody else sees the changes."""
    copy = os.path.abspath(f'build/mutate/{name}')
    shutil.rmtree(copy, ignore_errors=True)
    os.makedirs(f'{copy}/build')
    files = subprocess.run(['git', 'ls-files', '-z'], stdout=subprocess.PIPE, check=True).stdout.decode().split('\0')
    for path in filter(os.path.exists, filter(None, files)):
        os.makedirs(os.path.dirname(f'{copy}/{path}'), exist_ok=True)
        shutil.copy2(path, f'{copy}/{path}', follow_symlinks=False)
    for entry in os.listdir('build'):
        if entry not in ('mutate', 'reach'):
            subprocess.run(['cp', '-a', f'build/{entry}', f'{copy}/build/'], check=True)
    os.chdir(copy)


class Change:
    """One change of one file."""

    def __init__(self, path, site):
        self.path, self.site = path, site
        with open(path) as file:
            self.text = file.read()
        lines = self.text.split('\n')
        line = lines[site.line]
        self.old = line.strip()
        lines[site.line] = line[:site.first] + site.new + line[site.last:]
        self.new = lines[site.line].strip()
        self.changed = '\n'.join(lines)

    def write(self, text):
        with open(self.path, 'w') as file:
            file.write(text)

    def record(self, **more):
        return dict(file=self.path, line=self.site.line + 1, operator=self.site.operator, old=self.old, new=self.new, **more)


class Choice:
    """Draws changes: a file by its length, an operator by its weight, then a site."""

    def __init__(self, files, seed):
        following = enumerators(['include/**/*.h', 'firmware/*/*.h', 'kernel/**/*.h'])
        self.random, self.seen = random.Random(seed), set()
        self.sites = {f: sites(f, following) for f in files}
        self.files = [f for f in files if self.sites[f][0]]
        self.all = sum(len({*found}) for f in files for found in self.sites[f][0].values())

    def draw(self):
        """A change that was not drawn before, None if there is none left."""
        while len(self.seen) < self.all:
            path = self.random.choices(self.files, [self.sites[f][1] for f in self.files])[0]
            found = self.sites[path][0]
            operators = sorted(found)
            operator = self.random.choices(operators, [WEIGHTS[o] for o in operators])[0]
            site = self.random.choice(found[operator])
            if (path, site) not in self.seen:
                self.seen.add((path, site))
                return Change(path, site)
        return None


class Survivors:
    """The changes of an earlier sample that no test noticed, for all tests or for new ones."""

    def __init__(self, path, files):
        with open(path) as file:
            rows = [json.loads(line) for line in file]
        # The last answer to a change counts: it may have been asked again before.
        rows = {(r['file'], r['line'], r['old'], r['new']): r for r in rows if r['file'] in files}
        self.rows = [r for r in rows.values() if r['result'] == 'survived']

    def draw(self):
        """The next one, where its line is now; None behind the last one."""
        while self.rows:
            row = self.rows.pop(0)
            with open(row['file']) as file:
                lines = file.read().split('\n')
            found = [n for n, text in enumerate(lines) if text.strip() == row['old']]
            if found:
                line = min(found, key=lambda n: abs(n - row['line'] + 1))
                indent = len(lines[line]) - len(lines[line].lstrip())
                return Change(row['file'], Site(row['operator'], line, indent, len(lines[line].rstrip()), row['new']))
            print(f'gone       {row["file"]}:{row["line"]} {row["old"]}', flush=True)
        return None


def digest(libraries):
    """What was built, without debug information: equal digests are equal programs."""
    state = hashlib.sha256()
    for path in libraries:
        if path.endswith(('.a', '.o')):
            run(['objcopy', '-g', '-D', path, 'build/stripped'], 60)
            path = 'build/stripped'
        with open(path, 'rb') as file:
            state.update(file.read())
    return state.digest()


class Tests:
    """The programs of an area, in an order that finds a failure early."""

    def __init__(self, area, name, quick):
        self.area, self.hits, self.sound = area, {}, {}
        self.linked, self.plain = programs(area, area.programs), programs(area, area.plain)
        if quick:
            self.linked, self.plain = [p for p in self.linked if not self.stage(p) and '/integration/' not in p], []
        # Programs with sanitizers reach what the plain ones do; images of the firmware have no counters.
        self.reach = Reach(name, sources(area), [p for p in self.linked if not self.stage(p)], run, self.command)

    def command(self, program):
        if program.endswith('/combine'):
            return [program, '--seed', '1', '--count', '1000', '--known', 'tests/combine/known']
        return [program]

    def build(self, _):
        """Why the change is none that tests could notice, or None."""
        for libraries in filter(None, (self.area.libraries, self.area.late)):
            status, output = make(libraries, 600)
            if status:
                return 'unbuilt'
            if digest(libraries) != self.digest[libraries]:
                return None
        return 'same'

    def check_base(self):
        """Everything is built before anything is changed."""
        status, output = make([*self.area.libraries, *self.area.late, *self.linked], 3600)
        if status:
            sys.exit(f'mutate: the tree does not build:\n{output[-2000:]}')
        self.digest = {libraries: digest(libraries) for libraries in (self.area.libraries, self.area.late)}

    def is_sound(self, program):
        """Whether the program passes without a change, in the tree of which this one is a copy."""
        if program not in self.sound:
            self.sound[program] = run(self.command(program), 900, TREE)[0] == 0
            if not self.sound[program]:
                print(f'# left out, fails without a change: {program}', flush=True)
        return self.sound[program]

    def order(self, site, path):
        """
        Programs that reach the change. Those that have noticed changes of this file come first, then those named like it,
        then the quick ones. Those for which more has to be built come in later stages.
        """
        stem = os.path.basename(path).split('.')[0]
        hits = self.hits.get(path, [])
        programs = [p for p in (*self.linked, *self.plain) if self.sound.get(p, True)]
        reaching = [p for p in programs if self.stage(p) == 2 or self.reach.reaches(p, path, site.line + 1)]
        return sorted(reaching, key=lambda p: (self.stage(p), -hits.count(p), stem not in p, self.reach.seconds(p)))

    def stage(self, program):
        """0: what is linked with the change as it is; 1: the same with sanitizers; 2: programs that need the images."""
        if self.area.late and ('/integration/' in program or program.endswith('/test_target')):
            return 2
        return int('/asan/' in program)

    def notice(self, change):
        """Name of the program that fails, or None."""
        order, before = self.order(change.site, change.path), 0
        for i, program in enumerate(order):
            stage = self.stage(program)
            begins, before = stage != before, stage
            goals = [program] if i < LIKELY else order[i:] if i == LIKELY or begins else []
            goals = [p for p in goals if p in self.linked and self.stage(p) == stage]
            goals += self.area.late if begins and stage == 2 else ()
            status, _ = make(goals, 900)
            if status:
                return None if status == 'hang' else f'{program} (build)'
            status, output = run(self.command(program), max(60, 10 * self.reach.seconds(program)))
            if status and self.is_sound(program):
                self.hits.setdefault(change.path, []).append(program)
                case = re.search(r'\[  FAILED  \] (\S+)', output)
                return f'{program} {case.group(1) if case else status}'
        return None


class Guest:
    """
    The driver is tested in a guest, which is stopped at the first failure, at a report of its kernel, and when it has said
    nothing for long. What notices most comes first; what is about programs and time is left out.
    """
    SETTINGS = ('OUT=build VM_ONLY=/35,/36,/32,/30,/31,/38,/39 VM_ROUNDS=5 VM_STOP=yes VM_PATIENCE=400 VM_TIMEOUT=7200 '
                'VM_TEST_TIMEOUT=3600').split()
    KERNEL = '6.12'

    def guest(self, mode):
        return run(['env', *self.SETTINGS, 'tests/vm/run', mode, self.KERNEL], 8000)

    def compiled(self, path):
        return digest([f'build/tests/vm/{self.KERNEL}/module/{path[:-2]}.o'])

    def check_base(self):
        """The driver is built as it is. That the guest passes with it takes too long to be asked each time."""
        status, output = self.guest('build')
        if status:
            sys.exit(f'mutate: the driver does not build:\n{output[-2000:]}')
        self.digest = {path: self.compiled(path) for path in sources(AREAS['kernel'])}

    def build(self, path):
        """Why the change is none that tests could notice, or None."""
        if self.guest('build')[0]:
            return 'unbuilt'
        return None if self.compiled(path) != self.digest[path] else 'same'

    def notice(self, _):
        """Name of the test that fails, or what else was wrong; or None."""
        status, output = self.guest('check')
        bad = re.search(r'progress: not ok \d+ - (.*)', output) or re.search(r'not ok \d+ - (.*)', output)
        return f'guest: {bad.group(1) if bad else status}' if status else None


def attempt(change, tests):
    """Make the change, see who notices, undo it."""
    begin = time.monotonic()
    change.write(change.changed)
    try:
        unnoticeable = tests.build(change.path)
        if unnoticeable:
            return change.record(result=unnoticeable)
        by = tests.notice(change)
        return change.record(result='noticed' if by else 'survived', by=by or '', seconds=round(time.monotonic() - begin, 1))
    finally:
        change.write(change.text)


def equivalents():
    """Changes that have been judged to change nothing: 'file | old | new | why' a line."""
    with open(os.path.join(HERE, 'equivalent')) as file:
        rows = [line.rstrip('\n').split(' | ') for line in file if line.strip() and not line.startswith('#')]
    return {tuple(row[:3]) for row in rows}


def campaign(opt, seed, files, tests, out):
    """Changes until enough have been tested; whether as many were noticed as should be."""
    begin, counts = time.monotonic(), dict(noticed=0, survived=0, equivalent=0)
    choice, judged = Survivors(opt.again, files) if opt.again else Choice(files, f'{opt.area} {seed}'), equivalents()
    if opt.again:
        opt.count = len(choice.rows)
    while sum(counts.values()) < opt.count and time.monotonic() - begin < opt.seconds:
        change = choice.draw()
        if not change:
            break
        record = attempt(change, tests)
        if record['result'] == 'survived' and (record['file'], record['old'], record['new']) in judged:
            record['result'] = 'equivalent'
        if record['result'] in counts:
            counts[record['result']] += 1
            print('{result:10} {file}:{line} [{operator}] {old}  =>  {new}  {by}'.format(**record), flush=True)
        if out:
            out.write(json.dumps(record) + '\n')
            out.flush()
    asked = counts['noticed'] + counts['survived']
    score = 100 * counts['noticed'] / asked if asked else 0
    print(f'# {opt.area}, seed {seed}: {counts["noticed"]} noticed, {counts["survived"]} not, '
          f'{counts["equivalent"]} equivalent: {score:.1f} % (at least {TARGET})', flush=True)
    return score >= TARGET


def print_sample(opt, files):
    for seed in opt.seed:
        choice = Choice(files, f'{opt.area} {seed}')
        for _ in range(opt.count):
            change = choice.draw()
            if not change:
                break
            print(f'{change.path}:{change.site.line + 1} [{change.site.operator}] {change.old}  =>  {change.new}')


def main():
    opt = options()
    out = open(os.path.abspath(opt.out), 'a') if opt.out else None
    area = AREAS[opt.area]
    files = [f for f in sources(area) if re.search(opt.only, f)]
    if opt.list:
        print_sample(opt, files)
        return 0
    tests = Guest() if opt.area == 'kernel' else Tests(area, opt.area, opt.quick)
    copy_tree(opt.area)
    tests.check_base()
    return not all([campaign(opt, seed, files, tests, out) for seed in opt.seed])


if __name__ == '__main__':
    sys.exit(main())
