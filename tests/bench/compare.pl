#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# What has become better or worse since the last release: compare.pl RELEASE NEW, both as `tutti bench --output` writes
# them. Only counts are compared, which are the same in each run; times on a shared machine are noise.
use strict;
use warnings;

sub figures {
	my ($file) = @_;
	my %of;

	open my $in, "<", $file or die "$file: $!\n";
	while (<$in>) {
		my ($id, $case, $value, $unit) =
			/"id":"([^"]+)","case":"([^"]+)","value":([-0-9.e+]+),"unit":"((?:instructions|cycles)[^"]*)"/ or next;
		$of{"$id $case"} = [$value, $unit];
	}
	return \%of;
}

@ARGV == 2 or die "usage: compare.pl RELEASE NEW\n";
my ($old, $new) = map { figures($_) } @ARGV;
my %number = (better => 0, worse => 0, same => 0, "not measured" => 0, new => 0);
for my $name (sort keys %$old) {
	my ($was, $is) = ($old->{$name}[0], $new->{$name} ? $new->{$name}[0] : undef);
	my $verdict = !defined $is ? "not measured" : $is < $was - 0.005 ? "better" : $is > $was + 0.005 ? "worse" : "same";

	$number{$verdict}++;
	printf "%-6s %-48s %10.6g -> %-10.6g %+.1f %%\n", $verdict, $name, $was, $is, $was ? 100 * ($is - $was) / $was : 0
		if $verdict eq "better" || $verdict eq "worse";
}
$number{new} = grep { !$old->{$_} } keys %$new;
print "counts since the last release: ", join(", ", map { "$number{$_} $_" } "better", "worse", "same", "not measured", "new"), "\n";
