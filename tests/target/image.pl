# SPDX-License-Identifier: MIT
# What an image of the firmware asks of a soft core, read from its code. image.pl ELF: tests as TAP; image.pl --report
# ELF: a table of sections, large objects, free local memory, stack and command ring.
use strict;
use warnings;

my $report = @ARGV > 1 && shift eq "--report";
my $elf = shift;
my $large = $elf =~ /large/;
# gcc 14 makes code that is one KiB larger than that of gcc 12.
my ($number, $local, $floor) = (0, 256 * 1024, $large ? 15 * 1024 : 26 * 1024);

sub ok {
	my ($good, $name, @why) = @_;
	return if $report;
	printf "%sok %d - SYS-04%s: %s\n", $good ? "" : "not ", ++$number, $name =~ /stack|free|owed/ ? " REL-11" : "", $name;
	print map { "# $_\n" } @why unless $good;
}

my (%symbol, %bytes, %kind);
for (qx(riscv64-unknown-elf-nm -S $elf)) {
	my ($value, $size, $kind, $name) = /^(\w+)(?: (\w{8}))? (\w) (\S+)$/ or next;
	$symbol{$name} = hex $value;
	$bytes{$name} = hex($size // 0);
	$kind{$name} = $kind;
}

# ---- instructions, functions by their address: names of static ones are not unique
my (%insn, @order, %name_of, %function_at, $now, @foreign, @indirect);
my $imc = join '|', qw(lui auipc j jal jalr jr ret call tail beq bne blt bge bltu bgeu beqz bnez blez bgez bltz bgtz bgt ble
	bgtu bleu lb lh lw lbu lhu sb sh sw addi slti sltiu xori ori andi slli srli srai add sub sll slt sltu xor srl sra or
	and fence ecall ebreak nop li mv not neg seqz snez sltz sgtz zext.b mul mulh mulhsu mulhu div divu rem remu
	csrr csrw csrwi csrsi csrci csrrw csrrs csrrc csrs csrc mret wfi unimp sext.b sext.h zext.h);
for (qx(riscv64-unknown-elf-objdump -d $elf)) {
	if (/^(\w+) <(\S+)>:/) {
		$now = hex $1;
		$name_of{$now} = $2;
	} elsif (defined $now && /^\s*(\w+):\s+(\w+)\s+(\S+)\s*(.*)/) {
		my ($at, $code, $op, $rest) = (hex $1, $2, $3, $4);
		push @foreign, "$name_of{$now}: $op $rest" unless $op =~ /^(?:c\.)?(?:$imc)$/;
		$op =~ s/^c\.//;
		$rest =~ s/\s*#.*//;
		push @indirect, "$name_of{$now}: $op $rest" if $op eq "jalr" && $rest !~ /<\S+>/;
		$insn{$at} = [$op, $rest, $at + length($code) / 2];
		$function_at{$at} = $now;
		push @order, $at;
	}
}
my %entry = reverse %name_of;

# ---- frames: what sp has been lowered by at each call, along every path of a function
sub number_of {
	my ($text) = @_;
	return $text =~ /^(-?)0x(\w+)$/ ? ($1 ? -1 : 1) * hex $2 : $text =~ /^-?\d+$/ ? $text + 0 : undef;
}
sub signed { my ($x) = @_; $x &= 0xffffffff; return $x >= 1 << 31 ? $x - (1 << 32) : $x }
# Registers that libgcc's -msave-restore keeps: 16 bytes for each four of them.
sub save_bytes { my ($n) = @_; return 16 * (int($n / 4) + 1) }

my (%frame, %edge, @odd); # largest frame of a function; [callee, sp lowered by, a call or a jump]
sub walk {
	my ($start) = @_;
	my (%seen, @todo);
	$frame{$start} = 0;
	$edge{$start} = [];
	push @todo, [$start, 0, {}];
	while (my $state = pop @todo) {
		my ($at, $depth, $constant) = @$state;
		while (defined $insn{$at}) {
			last if defined $seen{$at} && $seen{$at} >= $depth;
			$seen{$at} = $depth;
			my ($op, $rest, $next) = @{ $insn{$at} };
			my ($target) = $rest =~ /(\w+) <[^>]+>$/;
			$target = hex $target if defined $target;
			if ($op =~ /^add(?:i|i16sp)?$/ && $rest =~ /^sp,sp,(\S+)/) {
				my $by = number_of($1) // $constant->{$1};
				push @odd, sprintf("%s: frame by %s at %x", $name_of{$start}, $1, $at) unless defined $by;
				$depth -= signed($by // 0);
			} elsif ($op eq "lui" && $rest =~ /^(\w+),(\S+)/) {
				$constant = { %$constant, $1 => number_of($2) << 12 };
			} elsif ($op eq "li" && $rest =~ /^(\w+),(\S+)/) {
				$constant = { %$constant, $1 => number_of($2) };
			} elsif ($op =~ /^addi?$/ && $rest =~ /^(\w+),(\w+),(-?\d+)$/ && defined $constant->{$2}) {
				$constant = { %$constant, $1 => $constant->{$2} + $3 };
			}
			$frame{$start} = $depth if $depth > $frame{$start};
			if ($op eq "jal" && $rest =~ /^t0,.*<__riscv_save_(\d+)>/) {
				$depth += save_bytes($1);
				$frame{$start} = $depth if $depth > $frame{$start};
			} elsif ($op =~ /^(?:jal|jalr|call)$/ && defined $target) {
				push @{ $edge{$start} }, [$function_at{$target} // $target, $depth, "call"];
			} elsif ($op =~ /^(?:j|tail)$/) {
				last if $rest =~ /<__riscv_restore_\d+>/;
				if (defined $target && ($function_at{$target} // -1) == $start) {
					$at = $target;
					next;
				}
				push @{ $edge{$start} }, [$function_at{$target}, $depth, "jump"] if defined $target;
				last;
			} elsif ($op =~ /^(?:ret|jr|mret)$/) {
				last;
			} elsif ($op =~ /^b/ && defined $target) {
				if (($function_at{$target} // -1) == $start) {
					push @todo, [$target, $depth, $constant];
				} else {
					push @{ $edge{$start} }, [$function_at{$target}, $depth, "jump"];
				}
			}
			$at = $next;
		}
	}
}
walk($_) for keys %name_of;

# ---- depth: the longest way; a way round that lowers sp is recursion
my (%depth, %via, $again, $round);
$depth{$_} = $frame{$_} for keys %frame;
for ($round = 0, $again = 1; $again && $round < 200; $round++) {
	$again = 0;
	for my $f (keys %edge) {
		for (@{ $edge{$f} }) {
			my ($to, $lowered) = @$_;
			my $d = $lowered + ($depth{$to} // 0);
			next if $d <= $depth{$f};
			$depth{$f} = $d;
			$via{$f} = [$to, $lowered];
			$again = 1;
		}
	}
}
my %reach;
sub reaches {
	my ($from, $to, $seen) = @_;
	return 1 if $from == $to;
	return 0 if $seen->{$from}++ || !$edge{$from};
	reaches($_->[0], $to, $seen) and return 1 for @{ $edge{$from} };
	return 0;
}
my @cycle;
for my $f (sort keys %edge) {
	my %tried;
	for (@{ $edge{$f} }) {
		my ($to, $lowered, $how) = @$_;
		next if ($how eq "jump" && !$lowered) || $tried{$to}++ || !defined $name_of{$to};
		push @cycle, "$name_of{$f} calls $name_of{$to}" if reaches($to, $f, {});
	}
}

my $deep = $depth{ $entry{main} } || 0; # _start sets sp and jumps there
my $stack = ($symbol{stack_top} // 0) - ($symbol{stack_bottom} // 0);
my $free = $local - ($symbol{bss_end} // $local);
my ($owed, $ring) = ($symbol{command_owed} // 0, $symbol{command_ring_words} // 0);

if ($report) {
	my ($at, @way) = ($entry{main});
	printf "%s\n", $elf =~ m{([^/]+)$};
	for (qx(riscv64-unknown-elf-size -A $elf)) {
		printf "  %-28s %7d bytes\n", $1, $2 if /^\.(text|rodata|data|bss|stack)\s+(\d+)/;
	}
	printf "  %-28s %7d bytes of %d\n", "free", $free, $local;
	printf "  %-28s %7d bytes of %d\n", "stack, deepest", $deep, $stack;
	printf "  %-28s %7d words of %d\n", "command ring, owed at most", $owed, $ring;
	print "  largest objects:\n";
	my $n = 0;
	for (sort { $bytes{$b} <=> $bytes{$a} || $a cmp $b } grep { $kind{$_} =~ /[bBdD]/ } keys %bytes) {
		printf "    %-26s %7d\n", $_, $bytes{$_};
		last if ++$n == 16;
	}
	print "  deepest way:\n";
	while ($via{$at} && @way < 60) {
		push @way, sprintf("    %-34s %5d", $name_of{$at}, $via{$at}[1]);
		$at = $via{$at}[0];
	}
	print join("\n", @way, sprintf("    %-34s %5d", $name_of{$at}, $frame{$at})), "\n";
	exit;
}
ok(keys %name_of > 50 && $entry{main}, "the image can be read");
ok(!@foreign, "RV32IMC and Zicsr are enough", @foreign[0 .. ($#foreign < 9 ? $#foreign : 9)]);
ok($free >= 0, "code, data and stack fit in 256 KiB of local memory");
my @libc = grep { /^(?:malloc|calloc|realloc|free|sbrk|printf|puts|str\w+|abort|exit|_exit|__errno)$/ } keys %symbol;
ok(!@libc, "no heap, nothing of libc but mem*", @libc);
ok(!@indirect, "every call has a known target", @indirect);
ok(!@cycle && !$again, "no recursion", @cycle);
ok(!@odd, "every frame of the stack has a known size", @odd);
ok(defined $symbol{stack_bottom} && $symbol{stack_bottom} == 0, "the stack lies below everything: an overflow leaves the memory and traps");
ok($deep && $deep <= $stack, "the stack is bounded: $deep of $stack bytes");
ok($owed && $owed < $ring, "the command ring's owed words are known: $owed of $ring");
ok($free >= $floor, sprintf("%.1f KiB of local memory are free, %d at least", $free / 1024, $floor / 1024));
print "1..$number\n";
