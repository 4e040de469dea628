#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Reads from the comments of HSA's headers which errors each function has.
#   statuses.pl --function STATUS LIBRARY HEADER...   NAME(function) for each function of LIBRARY with that error
#   statuses.pl --pairs LIBRARY HEADER...             "function STATUS" for each error of each function of LIBRARY
use strict;
use warnings;

my $mode = shift;
my $status = $mode eq "--function" ? shift : undef;
my $library = shift;
my %has = map { /\bT (hsa_\w+)/ ? ($1 => 1) : () } `nm -D --defined-only $library`;

for my $file (@ARGV) {
	open my $in, "<", $file or die "$file: $!\n";
	local $/;
	my $text = <$in>;
	while ($text =~ m{/\*\*((?:(?!\*/).)*)\*/\s*hsa_status_t\s+(?:HSA_API\s+)?(?:HSA_DEPRECATED\s+)?(hsa_\w+)\s*\(}sg) {
		my ($comment, $function) = ($1, $2);
		next unless $has{$function};
		for ($comment =~ /\@retval\s+(?:::)?(HSA_STATUS_ERROR\w*)/g) {
			print "$function $_\n" if $mode eq "--pairs";
			print "NAME($function)\n" if defined $status && $_ eq $status;
		}
	}
}
