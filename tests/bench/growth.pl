#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# How the whole way of a kernel grows: growth.pl [SVG]. Prints tables of instructions and draws them: by form of launch
# (PERF-12) for cards of 32, 144 and 1024 SMs in 2 to 64 GPCs, and of a plain kernel (PERF-06) by the number of CTA
# shapes and of queues that take turns, on a card of 144 SMs. Exact, as all counts are.
use strict;
use warnings;
use File::Temp "tempfile";

my @cards = (["32 SMs, 2 GPCs", "16*2"], ["144 SMs, 8 GPCs", "18*8"], ["1024 SMs, 32 GPCs", "32*32"],
	["1024 SMs, 64 GPCs", "16*64"]);
my @forms = (["plain_1d", "plain"], ["reference_store_1d", "reference stored"], ["condensed_empty_1", "condensed, 1 kernel"],
	["condensed_empty_31", "condensed, 31 kernels"], ["own_metadata", "metadata of its own"], ["cga_16", "one CGA of 16"],
	["child_task", "a child task"], ["work_item", "an item of a work queue"]);
my $out = $ENV{TUTTI_OUT} // "build";

sub measure {
	my ($group, $gpcs) = @_;
	my ($topology, $path) = tempfile(UNLINK => 1);
	my (undef, $json) = tempfile(UNLINK => 1);
	my %of;

	print $topology "gpc $gpcs\nmemory 4G\n";
	close $topology;
	local $ENV{TUTTI_TOPOLOGY} = $path;
	local $ENV{TUTTI_DEVICE} = "emulator";
	system("$out/tutti bench --only $group --output $json >/dev/null 2>&1") == 0 or die "cannot measure a card of $gpcs\n";
	open my $in, "<", $json or die;
	while (my $line = <$in>) {
		$of{$1} = $2 if $line =~ /"case":"([^"]+)","value":([-0-9.e+]+)/;
	}
	return \%of;
}

# One picture of several parts, one below the other. A part has names of its columns, bounds and ticks of its vertical
# axis, which is logarithmic as the columns are, so that a curve that is level does not grow, and curves: [text, values].
sub draw {
	my ($file, @parts) = @_;
	my @colours = map { "#$_" } qw(1f77b4 d62728 2ca02c 9467bd ff7f0e 17becf 8c564b 7f7f7f);
	my ($left, $width, $height) = (70, 560, 330);
	my $all = $height * @parts;

	open my $svg, ">", $file or die "$file: $!\n";
	print $svg qq(<svg xmlns="http://www.w3.org/2000/svg" width="830" height="$all"),
		qq( font-family="DejaVu Sans, sans-serif" font-size="12">\n),
		qq(<title>Instructions of the whole way of a kernel, by card, shapes of CTAs and queues</title>\n),
		qq(<rect width="830" height="$all" fill="#ffffff"/>\n);
	for my $p (0 .. $#parts) {
		my ($names, $low, $high, $ticks, @curves) = @{$parts[$p]};
		my $top = $p * $height;
		my $y = sub { sprintf "%.1f", $top + 20 + ($height - 60) * (log($high) - log($_[0])) / (log($high) - log($low)) };
		my $x = sub { $left + 20 + $_[0] * ($width - 40) / $#$names };

		for my $tick (@$ticks) {
			my $at = $y->($tick);
			print $svg qq(<line x1="$left" x2="@{[$left + $width]}" y1="$at" y2="$at" stroke="#dddddd"/>),
				qq(<text x="60" y="$at" text-anchor="end">$tick</text>\n);
		}
		for my $n (0 .. $#$names) {
			print $svg qq(<text x="@{[$x->($n)]}" y="@{[$top + $height - 15]}" text-anchor="middle">$names->[$n]</text>\n);
		}
		for my $c (0 .. $#curves) {
			my ($text, @values) = @{$curves[$c]};
			my $points = join " ", map { sprintf "%.0f,%s", $x->($_), $y->($values[$_]) } 0 .. $#values;

			print $svg qq(<polyline points="$points" fill="none" stroke="$colours[$c]" stroke-width="2"/>),
				qq(<text x="@{[$left + $width + 5]}" y="@{[$y->($values[-1])]}" fill="$colours[$c]">$text</text>\n);
		}
	}
	print $svg "</svg>\n";
}

sub table {
	my ($what, $names, @curves) = @_;

	print "| $what | ", join(" | ", @$names), " |\n|---", "|---" x @$names, "|\n";
	for my $curve (@curves) {
		my ($text, @values) = @$curve;

		print "| $text | ", join(" | ", map { sprintf "%.0f", $_ } @values), " |\n";
	}
	print "\n";
}

# PERF-06 on the default card: a kernel, by how many @n of @what alternate.
sub alternating {
	my ($of, $what) = @_;
	my @n = sort { $a <=> $b } map { /^${what}_(\d+)$/ ? $1 : () } keys %$of;

	return ([@n], map { $of->{"${what}_$_"} } @n);
}

my @figures = map { measure("PERF-12", $_->[1]) } @cards;
my @names = map { $_->[0] } @cards;
my @curves = map { my $form = $_; [$form->[1], map { $_->{$form->[0]} } @figures] } @forms;
my $others = measure("PERF-06", "18*8");
my ($shapes, @by_shapes) = alternating($others, "shapes");
my ($queues, @by_queues) = alternating($others, "queues");
table("form of launch", \@names, @curves);
table("CTA shapes in turn", $shapes, ["instructions of a plain kernel", @by_shapes]);
table("queues in turn", $queues, ["instructions of a plain kernel", @by_queues]);
draw($ARGV[0], [\@names, 200, 8000, [200, 500, 1000, 2000, 5000], @curves],
	[[map { "$_ shapes" } @$shapes], 200, 8000, [200, 500, 1000, 2000, 5000], ["shapes of CTAs in turn", @by_shapes]],
	[[map { "$_ queues" } @$queues], 200, 8000, [200, 500, 1000, 2000, 5000], ["queues in turn", @by_queues]]) if @ARGV;
# With thirty times as many SMs a kernel may cost half as much again, and a CGA 1510 instructions more: on the largest cards the
# table of free slots is too small for its short way. Six shapes of CTA may cost half as much again as two; with a single one
# kernels run in each other's place. Each queue that takes turns may add a tenth of what a kernel of a single queue costs.
shift @by_shapes;
exit 1 if grep { $by_queues[$_] > (1 + $queues->[$_] / 10) * $by_queues[0] } 0 .. $#by_queues;
exit !!grep { $_->[-1] > ($_->[0] eq "one CGA of 16" ? $_->[1] + 1510 : 1.5 * $_->[1]) } @curves, ["", @by_shapes];
