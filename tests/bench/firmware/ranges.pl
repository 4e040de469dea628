#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Where the code of each firmware file lies, as initialisers in C, from a map of the linker: ranges.pl MAP
use strict;
use warnings;

my $section;
while (<>) {
	last if /^OUTPUT\(/;
	$section = $1 if /^ (\.text\S*)\s*$/;
	my ($name, $start, $bytes, $object) = /^ (\.text\S*)?\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S+)$/ or next;
	next unless $name || $section;
	$section = undef;
	next if !hex($bytes) || !hex($start);
	$object = "libgcc" if $object =~ /libgcc/;
	$object =~ s{^.*/([^/]+/[^/]+)\.o$}{$1};
	printf "{ 0x%s, 0x%s, \"%s\" },\n", $start, $bytes, $object;
}
