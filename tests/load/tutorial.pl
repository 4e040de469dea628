#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# tutorial.pl TEXT: does in the current folder what a reader of TEXT does. A block of C begins with a comment that names
# its file; the commands of a block `sh` must print exactly the block `text` that follows it.
use strict;
use warnings;

my ($ran, $said) = (0);
open my $text, '<', $ARGV[0] or die "$ARGV[0]: $!\n";
local $/;
for (<$text> =~ /^```(.*?\n)```$/msg) {
	my ($kind, $block) = /^(\w+)\n(.*)/s or die "a block without a kind:\n$_";
	if ($kind eq 'c') {
		my ($name) = $block =~ m!^/\* ([\w.]+) \*/! or die "a program without a name:\n$block";
		open my $file, '>', $name or die "$name: $!\n";
		print $file $block;
		close $file or die "$name: $!\n";
	} elsif ($kind eq 'sh') {
		die "commands without a result:\n$block" if defined $said;
		open my $commands, '>', 'commands' or die "commands: $!\n";
		print $commands $block;
		close $commands or die "commands: $!\n";
		$said = `sh -e ./commands`;
		die "exit status $? of:\n$block" if $?;
		$ran++;
	} elsif ($kind eq 'text') {
		defined $said && $said eq $block or die "expected:\n$block", "but the commands print:\n", $said // '', "\n";
		undef $said;
	} else {
		die "a block of unknown kind $kind\n";
	}
}
die "commands without a result\n" if defined $said;
die "no commands\n" unless $ran;
print "$ran blocks of commands print what the text says\n";
