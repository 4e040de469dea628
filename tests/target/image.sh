#!/bin/bash
# SPDX-License-Identifier: MIT
# SYS-04: what the shipped image asks of a soft core, read from its code: RV32IMC, 256 KiB, no heap, no
# recursion, a bounded stack, nothing of libc but mem*.
set -u
cd "$(dirname "$0")/../.." || exit 2
elf=${1:-${TUTTI_OUT:-build}/firmware/tutti-fw.elf}
exec perl - "$elf" <<'PERL'
use strict;
use warnings;

my $elf = shift;
my ($number, $local) = (0, 256 * 1024);
sub ok {
	my ($good, $name, @why) = @_;
	printf "%sok %d - SYS-04: %s\n", $good ? "" : "not ", ++$number, $name;
	print map { "# $_\n" } @why unless $good;
}
my (%symbol, %function, %at);
for (qx(riscv64-unknown-elf-nm $elf)) {
	my ($value, $kind, $name) = /^(\w+) (\w) (\S+)$/ or next;
	$symbol{$name} = hex $value;
}

# Instructions of each function: frame, calls, and whatever is not RV32IMC.
my ($now, @foreign, @indirect, %called, %high);
my $imc = join '|', qw(lui auipc j jal jalr jr ret call tail beq bne blt bge bltu bgeu beqz bnez blez bgez bltz bgtz bgt ble
	bgtu bleu lb lh lw lbu lhu sb sh sw addi slti sltiu xori ori andi slli srli srai add sub sll slt sltu xor srl sra or
	and fence ecall ebreak nop li mv not neg seqz snez sltz sgtz zext.b mul mulh mulhsu mulhu div divu rem remu
	csrr csrw csrwi csrsi csrci csrrw csrrs csrrc csrs csrc mret wfi unimp sext.b sext.h zext.h);
for (qx(riscv64-unknown-elf-objdump -d $elf)) {
	if (/^\w+ <(\S+)>:/) {
		$now = $1;
		$function{$now} = { frame => 0, calls => {}, kept => {} };
	} elsif (defined $now && /^\s*\w+:\s+\w+\s+(\S+)\s*(.*)/) {
		my ($op, $rest) = ($1, $2);
		push @foreign, "$now: $op $rest" unless $op =~ /^(?:c\.)?(?:$imc)$/;
		$function{$now}{frame} += $1 if $op =~ /^(?:c\.)?add/ && $rest =~ /^sp,sp,-(\d+)/;
		# a frame of more than 2 KiB: its upper part comes from a register
		$high{$1} = (hex $2) << 12 if $op =~ /^(?:c\.)?lui$/ && $rest =~ /^(\w+),0x(\w+)/;
		$function{$now}{frame} += (1 << 32) - $high{$1}
			if $op =~ /^(?:c\.)?add$/ && $rest =~ /^sp,sp,([at]\d)/ && ($high{$1} // 0) >= 1 << 31;
		push @indirect, $now if $op eq "jalr" && $rest !~ /<\S+>/;
		$function{$now}{calls}{$1} = 1 if $op =~ /^(?:jal|j|call|tail|jalr)$/ && $rest =~ /<([\w.]+)>/ && $1 ne $now;
		# a call keeps its frame, a jump at the end of a function has none left
		$function{$now}{kept}{$1} = 1 if $op =~ /^(?:jal|call|jalr)$/ && $rest =~ /<([\w.]+)>/;
	}
}
ok(keys %function > 50 && $function{main}, "the image can be read");
ok(!@foreign, "RV32IMC and Zicsr are enough", @foreign[0 .. ($#foreign < 9 ? $#foreign : 9)]);
ok($symbol{stack_top} && $symbol{stack_top} <= $local,
   "code, data and stack fit in 256 KiB of local memory ($symbol{stack_top} bytes)");
my @libc = grep { /^(?:malloc|calloc|realloc|free|sbrk|printf|puts|str\w+|abort|exit|_exit|__errno)$/ } keys %symbol;
ok(!@libc, "no heap, nothing of libc but mem*", @libc);
ok(!@indirect, "every call has a known target", @indirect);

# A call that leads back to its caller is recursion; a loop of jumps is a loop.
sub reaches {
	my ($from, $to, $seen) = @_;
	return 1 if $from eq $to;
	return 0 if $seen->{$from}++ || !$function{$from};
	reaches($_, $to, $seen) and return 1 for keys %{ $function{$from}{calls} };
	return 0;
}
my @cycle;
for my $name (sort keys %function) {
	push @cycle, map { "$name calls $_" } grep { reaches($_, $name, {}) } sort keys %{ $function{$name}{kept} };
}
ok(!@cycle, "no recursion", @cycle);
my (%depth, %path);
sub depth {
	my ($name) = @_;
	return 0 if !$function{$name} || $path{$name};
	return $depth{$name} if defined $depth{$name};
	$path{$name} = 1;
	my $deepest = 0;
	for (keys %{ $function{$name}{calls} }) {
		my $d = depth($_);
		$deepest = $d if $d > $deepest;
	}
	$path{$name} = 0;
	return $depth{$name} = $deepest + $function{$name}{frame};
}
my $deep = depth("main");
my $stack = $symbol{stack_top} - ($symbol{bss_end} // 0);
ok($deep && $deep < $stack, "the stack is bounded: $deep of $stack bytes");
print "1..$number\n";
PERL
