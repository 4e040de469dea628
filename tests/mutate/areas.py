# SPDX-License-Identifier: MIT
"""What may be changed in each area of the tree, what has to be built again then, and which programs may notice it."""
import glob
import os
import re
from typing import NamedTuple


class Area(NamedTuple):
    sources: tuple   # patterns of the files that may be changed
    without: str     # expression of paths that are left alone: only diagnostics, or never part of a product
    libraries: tuple  # what is built again after a change, and compared with what was there before
    late: tuple      # the same, but only built when no program that is linked again has noticed
    programs: tuple  # patterns of test programs that are linked again
    plain: tuple     # patterns of programs that only read what was built
    blind: str = '^$'  # expression of programs that fail with any other firmware than the one that was translated


FIRMWARE_IMAGES = ('build/firmware/tutti-fw.bin', 'build/firmware/tutti-fw-large.bin')
INTEGRATION = 'build/tests/integration/test_*'


def unit(name):
    """Patterns of unit tests, each of which is built with sanitizers, too."""
    return f'build/tests/unit/test_{name}*', f'build/asan/tests/unit/test_{name}*'


AREAS = {
    'firmware': Area(
        ('firmware/*/*.c', 'firmware/*/*.h'), r'/tools/|/host/|/log\.',
        ('build/firmware/host/libtutti-fw-host.a',), FIRMWARE_IMAGES,
        (*unit('fw'), 'build/tests/combine/combine', 'build/tests/target/test_target'), (INTEGRATION,),
        r'/test_(boot|deterministic|device)$'),
    'runtime': Area(
        ('runtime/[!ekt]*/*.c', 'runtime/transport/*.c', 'runtime/transport/bare/*.c', 'runtime/tutti-card/*.c'), r'print|/xrt',
        ('build/libtutti.a', 'build/tutti-card'), (), (*unit('rt'), *unit('split'), INTEGRATION), ()),
    'emulator': Area(
        ('runtime/emulator/*/*.c',), r'/energy|/print|store_speed|/cpu/',
        ('build/libtutti-card.a',), (), (*unit('card'), *unit('sm'), *unit('translated'), INTEGRATION), ()),
    'processor': Area(
        ('runtime/emulator/cpu/*.c', 'runtime/emulator/cpu/*.h', 'runtime/emulator/cpu/translate/*.c'), r'print',
        ('build/libtutti-cpu.a',), (), (*unit('cpu'), 'build/tests/cpu/test_target_*', 'build/tests/cpu/lockstep'), ()),
    'headers': Area(
        ('include/tutti/*.h',), r'^$',
        ('build/libtutti.a', 'build/libtutti-card.a', 'build/firmware/host/libtutti-fw-host.a', *FIRMWARE_IMAGES), (),
        (*unit('*'), INTEGRATION), (), r'/test_(boot|deterministic|device)$'),
    'kernel': Area(('kernel/*.c', 'kernel/*/*.c'), r'probe/|tracepoints|debugfs|delay', (), (), (), ()),
}


def sources(area):
    """The files of an area that may be changed."""
    files = {f for pattern in area.sources for f in glob.glob(pattern)}
    return sorted(f for f in files if not re.search(area.without, f))


def programs(area, patterns):
    """Test programs that match, as built, except for unit and integration tests whose source has gone."""
    found = {f for pattern in patterns for f in glob.glob(pattern) if not re.search(area.blind, f)}
    present = {os.path.basename(f)[:-2] for f in glob.glob('tests/**/*.c', recursive=True)}
    return sorted(f for f in found if os.access(f, os.X_OK) and os.path.isfile(f) and '.' not in os.path.basename(f) and
                  (os.path.basename(f) in present or not re.search(r'/(unit|integration)/', f)))
