#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# STY-06: each folder uses what its table allows, by the symbols of the built objects and by the #include lines; no
# folder has too many files; no unit reads or writes a variable of another one, but those of the unit `state` and those
# that the table lists with a reason. One table *.floors for each tree, see README.md; without arguments all of them.
use strict;
use warnings;
use File::Basename;
use File::Find;

my $number = 0;

sub ok {
	my ($good, $name, @why) = @_;
	printf "%sok %d - STY-06: %s\n", $good ? "" : "not ", ++$number, $name;
	print map { "# $_\n" } @why unless $good;
}

# The table: what is said of the tree as a whole, and its floors, the lowest first.
sub table {
	my ($file) = @_;
	my %t = (file => $file, nm => "nm", prefix => "", most => 12, floors => [], may => {}, shared => {});

	open my $in, "<", $file or die "$file: $!\n";
	while (<$in>) {
		s/#.*//;
		my ($word, @rest) = split or next;
		if ($word eq "floor") {
			my ($name, @may) = @rest;
			@may = @{ $t{floors} } if "@may" eq "*";
			push @{ $t{floors} }, $name;
			$t{may}{$name} = { map { $_ => 1 } $name, @may };
			for my $other (@may) {
				grep { $_ eq $other } @{ $t{floors} } or die "$file: $name may use $other, which stands above it\n";
			}
		} elsif ($word eq "shared") {
			$t{shared}{$rest[0]} = 1;
		} elsif ($word =~ /^(?:sources|objects|nm|prefix|state|most)$/) {
			$t{$word} = $rest[0];
		} else {
			die "$file: what is '$word'?\n";
		}
	}
	close $in;
	$t{$_} or die "$file: no line '$_'\n" for qw(sources objects state);
	return \%t;
}

# The floor of a path below the tree's root: the longest name of a floor it begins with.
sub floor_of {
	my ($t, $path) = @_;
	my ($best) = sort { length $b <=> length $a } grep { $path =~ m{^\Q$_\E/} } @{ $t->{floors} };
	return $best;
}

sub files {
	my ($dir, $pattern) = @_;
	my @found;

	find({ no_chdir => 1, wanted => sub { push @found, substr($_, 1 + length $dir) if -f && /$pattern/ } }, $dir);
	return sort @found;
}

# Every object below one of the floors: what it defines and what it needs.
sub symbols {
	my ($t, $dir) = @_;
	my (%defined, %kind, %needs);

	for my $object (grep { floor_of($t, $_) } files($dir, qr/\.o$/)) {
		(my $unit = $object) =~ s/\.o$//;
		# an object may be left of a source that is no longer there
		grep { -f "$t->{sources}/$unit.$_" } qw(c S) or next;
		$needs{$unit} = {};
		for (qx($t->{nm} $dir/$object)) {
			if (/^\s+[Uwv] (\S+)/) {
				$needs{$unit}{$1} = 1;
			} elsif (/^\w+ ([A-TV-Z]) (\S+)/) {
				($defined{$2}, $kind{$2}) = ($unit, $1);
			}
		}
	}
	return (\%defined, \%kind, \%needs);
}

sub check_calls {
	my ($t, $defined, $needs) = @_;

	for my $floor (@{ $t->{floors} }) {
		my @bad;
		for my $unit (sort grep { floor_of($t, $_) eq $floor } keys %$needs) {
			for my $symbol (sort keys %{ $needs->{$unit} }) {
				my $from = $defined->{$symbol} or next;
				my $to = floor_of($t, $from);
				push @bad, "$unit uses $symbol of $from" unless $t->{may}{$floor}{$to};
			}
		}
		my @may = grep { $_ ne $floor && $t->{may}{$floor}{$_} } @{ $t->{floors} };
		ok(!@bad, "$t->{sources}/$floor uses " . (@may ? "nothing but @may" : "no other floor"), @bad);
	}
}

sub check_includes {
	my ($t) = @_;
	my %bad;

	for my $file (grep { floor_of($t, $_) } files($t->{sources}, qr/\.[chS]$/)) {
		my $floor = floor_of($t, $file);
		open my $in, "<", "$t->{sources}/$file" or die "$file: $!\n";
		while (<$in>) {
			/^\s*#\s*include\s+"([^"]+)"/ or next;
			(my $path = $1) =~ s{^\Q$t->{prefix}\E}{};
			# from the tree's root, or from the file's own folder
			my $there = -f "$t->{sources}/$path" ? $path : dirname($file) . "/$path";
			1 while $there =~ s{[^/]+/\.\./}{};
			my $to = floor_of($t, $there) or next;
			push @{ $bad{$floor} }, "$file includes $path" unless $t->{may}{$floor}{$to};
		}
		close $in;
	}
	for my $floor (@{ $t->{floors} }) {
		my @bad = @{ $bad{$floor} // [] };
		ok(!@bad, "$t->{sources}/$floor includes nothing of a floor above it", @bad);
	}
}

sub check_sizes {
	my ($t) = @_;
	my @bad;

	for my $floor (@{ $t->{floors} }) {
		my @files = grep { floor_of($t, $_) eq $floor } map { s{^\Q$t->{sources}\E/}{}r } glob "$t->{sources}/$floor/*.c";
		push @bad, "$floor has " . @files if @files > $t->{most};
	}
	ok(!@bad, "$t->{sources}: at most $t->{most} .c files in a folder", @bad);
}

sub check_variables {
	my ($t, $defined, $kind, $needs) = @_;
	my (%users, @bad);

	for my $unit (keys %$needs) {
		for my $symbol (keys %{ $needs->{$unit} }) {
			my $from = $defined->{$symbol} or next;
			push @{ $users{"$from:$symbol"} }, $unit if $kind->{$symbol} =~ /[BCDGS]/ && $from ne $unit && $from ne $t->{state};
		}
	}
	for my $variable (sort keys %users) {
		push @bad, "$variable is used by " . join ", ", sort @{ $users{$variable} } unless $t->{shared}{$variable};
	}
	my $listed = keys %{ $t->{shared} };
	ok(!@bad, "$t->{sources}: no variable of one unit is used by another, but those of $t->{state} and $listed listed ones", @bad);
	my @stale = grep { !$users{$_} } sort keys %{ $t->{shared} };
	ok(!@stale, "$t->{sources}: variables that are listed as shared are", @stale);
}

my $out = $ENV{TUTTI_OUT} // "build";
chdir dirname($0) . "/../.." or die "$!\n";
for my $file (@ARGV ? @ARGV : glob "tests/floors/*.floors") {
	my $t = table($file);
	my ($defined, $kind, $needs) = symbols($t, "$out/$t->{objects}");
	my @without = grep { my $f = $_; !grep { floor_of($t, $_) eq $f } keys %$needs } @{ $t->{floors} };

	ok(!@without, "$t->{sources}: every floor has objects below $out/$t->{objects}", @without);
	check_calls($t, $defined, $needs);
	check_includes($t);
	check_sizes($t);
	check_variables($t, $defined, $kind, $needs);
}
print "1..$number\n";
