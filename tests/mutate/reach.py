# SPDX-License-Identifier: MIT
"""Which lines of an area each test program reaches, so that only those programs are asked about a change there.

Everything is built once more with gcov's counters, under build/reach, and each program is run by itself. Programs that fail
there count as reaching everything. Images of the firmware have no counters; those of the build are used.
"""
import glob
import json
import os
import shutil
import subprocess
import time

OUT = 'build/reach'
STARTED = {'test_card_process': 'runtime/tutti-card/'}  # sources of what a program starts, whose lines are not counted
AROUND = 4  # lines: gcov counts a statement of several lines at one of them
MAKE = ['make', '-s', '-k', '-j2', 'WARN=-w', 'MAKELEVEL=1', f'OUT={OUT}', 'CC=gcc --coverage', 'CFLAGS=-O1 -g', 'TRANSLATE=no']


def counters():
    """The files in which a program that was run has left its counts."""
    return [os.path.join(folder, f) for folder, _, files in os.walk(OUT) for f in files if f.endswith('.gcda')]


def lines_of(files, sources):
    """For each source the lines that were executed, by these counts."""
    reached = {}
    output = subprocess.run(['gcov', '--json-format', '--stdout', *files], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            check=False).stdout.decode()
    for document in output.splitlines():
        for file in json.loads(document)['files']:
            path = os.path.normpath(file['file'])
            if path in sources:
                reached.setdefault(path, set()).update(line['line_number'] for line in file['lines'] if line['count'])
    return {path: sorted(found) for path, found in reached.items()}


class Reach:
    """What each program reaches, and how long it takes; kept in a file, and measured again for programs that are newer."""

    def __init__(self, area, sources, programs, run, command):
        self.sources = set(sources)
        self.file = os.path.abspath(f'{OUT}-{area}.json')
        self.known = {}
        self.forget_another_tree()
        if os.path.exists(self.file):
            with open(self.file) as file:
                self.known = json.load(file)
        stale = [p for p in programs if self.known.get(p, {}).get('time') != os.path.getmtime(p)]
        if not stale:
            return
        print(f'# finding out what {len(stale)} programs reach ...', flush=True)
        twins = {p: p.replace('build/', f'{OUT}/', 1) for p in stale}
        subprocess.run([*MAKE, *twins.values()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        self.provide_images()
        for file in glob.glob('a-*.gcno'):  # left by questions to the compiler about its options
            os.remove(file)
        for program, twin in twins.items():
            self.known[program] = self.measure(program, twin, run, command)
            with open(self.file, 'w') as file:
                json.dump(self.known, file)

    @staticmethod
    def forget_another_tree():
        """
        A program writes its counts to the place where it was compiled. If the tree was copied since then, it would seem
        to reach nothing, so everything is built and measured again.
        """
        place, here = f'{OUT}/compiled-in', os.getcwd()
        if os.path.exists(place):
            with open(place) as file:
                if file.read() == here:
                    return
        shutil.rmtree(OUT, ignore_errors=True)
        for known in glob.glob(f'{OUT}-*.json'):
            os.remove(known)
        os.makedirs(OUT)
        with open(place, 'w') as file:
            file.write(here)

    @staticmethod
    def provide_images():
        """Programs look for the firmware beside themselves. Without it they would fail, and be asked about every change."""
        os.makedirs(f'{OUT}/firmware', exist_ok=True)
        for image in glob.glob('build/firmware/*.bin'):
            link = f'{OUT}/firmware/{os.path.basename(image)}'
            if not os.path.lexists(link):
                os.symlink(os.path.abspath(image), link)

    def measure(self, program, twin, run, command):
        for file in counters():
            os.remove(file)
        begin = time.monotonic()
        status = run(command(twin), 900)[0] if os.access(twin, os.X_OK) else 'missing'
        seconds = time.monotonic() - begin
        lines = lines_of(counters(), self.sources) if status == 0 else None
        return dict(time=os.path.getmtime(program), seconds=seconds, lines=lines)

    def seconds(self, program):
        return self.known.get(program, {}).get('seconds', 1)

    def reaches(self, program, path, line):
        """Whether the program may notice a change of this line."""
        if path.startswith(STARTED.get(os.path.basename(program), '/')):
            return True
        lines = self.known.get(program.replace('/asan/', '/'), {}).get('lines')
        return lines is None or any(abs(line - n) <= AROUND for n in lines.get(path, []))
