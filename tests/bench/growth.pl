#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# How the whole way of a kernel (PERF-12) grows with the card: growth.pl [SVG]. Prints a table of instructions by form of
# launch for cards of 32, 144 and 1024 SMs in 2 to 64 GPCs, and draws it. Exact, as all counts are.
use strict;
use warnings;
use File::Temp "tempfile";

my @cards = (["32 SMs, 2 GPCs", "16*2"], ["144 SMs, 8 GPCs", "18*8"], ["1024 SMs, 32 GPCs", "32*32"],
	["1024 SMs, 64 GPCs", "16*64"]);
my @forms = (["plain_1d", "plain"], ["reference_store_1d", "reference stored"], ["condensed_empty_1", "condensed, 1 kernel"],
	["condensed_empty_31", "condensed, 31 kernels"], ["own_metadata", "metadata of its own"], ["cga_16", "one CGA of 16"]);
my $out = $ENV{TUTTI_OUT} // "build";

sub measure {
	my ($gpcs) = @_;
	my ($topology, $path) = tempfile(UNLINK => 1);
	my (undef, $json) = tempfile(UNLINK => 1);
	my %of;

	print $topology "gpc $gpcs\nmemory 4G\n";
	close $topology;
	local $ENV{TUTTI_TOPOLOGY} = $path;
	local $ENV{TUTTI_DEVICE} = "emulator";
	system("$out/tutti bench --only PERF-12 --output $json >/dev/null 2>&1") == 0 or die "cannot measure a card of $gpcs\n";
	open my $in, "<", $json or die;
	while (my $line = <$in>) {
		$of{$1} = $2 if $line =~ /"case":"([^"]+)","value":([-0-9.e+]+)/;
	}
	return \%of;
}

# A curve for each form; both axes are logarithmic, so a curve that is level does not grow.
sub draw {
	my ($file, @figures) = @_;
	my @colours = map { "#$_" } qw(1f77b4 d62728 2ca02c 9467bd ff7f0e 17becf);
	my ($left, $width, $height) = (70, 560, 330);
	my $y = sub { sprintf "%.1f", 20 + ($height - 60) * (log(8000) - log($_[0])) / (log(8000) - log(200)) };
	my $x = sub { $left + 20 + $_[0] * ($width - 40) / $#figures };

	open my $svg, ">", $file or die "$file: $!\n";
	print $svg qq(<svg xmlns="http://www.w3.org/2000/svg" width="830" height="$height"),
		qq( font-family="DejaVu Sans, sans-serif" font-size="12">\n),
		qq(<title>Instructions of the whole way of a kernel, by card</title>\n),
		qq(<rect width="830" height="$height" fill="#ffffff"/>\n);
	for my $tick (200, 500, 1000, 2000, 5000) {
		my $at = $y->($tick);
		print $svg qq(<line x1="$left" x2="@{[$left + $width]}" y1="$at" y2="$at" stroke="#dddddd"/>),
			qq(<text x="60" y="$at" text-anchor="end">$tick</text>\n);
	}
	for my $card (0 .. $#figures) {
		print $svg qq(<text x="@{[$x->($card)]}" y="@{[$height - 15]}" text-anchor="middle">$cards[$card][0]</text>\n);
	}
	for my $f (0 .. $#forms) {
		my ($name, $text) = @{$forms[$f]};
		my $points = join " ", map { sprintf "%.0f,%s", $x->($_), $y->($figures[$_]{$name}) } 0 .. $#figures;

		print $svg qq(<polyline points="$points" fill="none" stroke="$colours[$f]" stroke-width="2"/>),
			qq(<text x="@{[$left + $width + 5]}" y="@{[$y->($figures[-1]{$name})]}" fill="$colours[$f]">$text</text>\n);
	}
	print $svg "</svg>\n";
}

my @figures = map { measure($_->[1]) } @cards;
print "| form of launch | ", join(" | ", map { $_->[0] } @cards), " |\n|---", "|---" x @cards, "|\n";
for my $form (@forms) {
	print "| $form->[1] | ", join(" | ", map { sprintf "%.0f", $_->{$form->[0]} } @figures), " |\n";
}
draw($ARGV[0], @figures) if @ARGV;
# thirty times as many SMs may add half to what a kernel costs at most
exit !!grep { $figures[-1]{$_->[0]} > 1.5 * $figures[0]{$_->[0]} } @forms;
