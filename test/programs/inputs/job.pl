# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a Perl program over text: words made up, paragraphs filled, counted in hashes, rewritten by regexes.
# Invariant: prints the same for the same rounds, whatever the malloc; no clock, keys always sorted.
# Must not know: the allocator.
use strict;
use warnings;

my $state = 12345;

sub random_below {
    my ($limit) = @_;
    $state = ($state * 1103515245 + 12345) & 0x7fffffff;
    return ($state >> 8) % $limit;
}

sub make_words {
    my ($count) = @_;
    my @syllables = qw(lo rem ip sum do lor sit am et con sec te tur a di pis cing e lit);
    return map { join '', map { $syllables[random_below(scalar @syllables)] } 0 .. random_below(4) } 1 .. $count;
}

# Fills lines up to the width, as fmt(1) does.
sub fill {
    my ($width, @words) = @_;
    my (@lines, $line);
    for my $word (@words) {
        if (defined $line && length($line) + 1 + length($word) > $width) {
            push @lines, $line;
            undef $line;
        }
        $line = defined $line ? "$line $word" : $word;
    }
    push @lines, $line if defined $line;
    return @lines;
}

sub count_neighbours {
    my (@words) = @_;
    my %follows;
    $follows{$words[$_]}{$words[$_ + 1]}++ for 0 .. $#words - 1;
    return \%follows;
}

sub commonest_pair {
    my ($follows) = @_;
    my @pairs = map { my $first = $_; map { [$follows->{$first}{$_}, $first, $_] } keys %{ $follows->{$first} } } keys %$follows;
    my ($best) = sort { $b->[0] <=> $a->[0] || $a->[1] cmp $b->[1] || $a->[2] cmp $b->[2] } @pairs;
    return "@$best";
}

for my $turn (1 .. $ARGV[0]) {
    my @words = make_words(30000);
    my $text = join "\n", fill(72, @words);
    (my $marked = $text) =~ s/\b(lo\w*)\b/<$1>/g;
    my $changed = () = $marked =~ /<[^>]+>/g;
    my %by_length;
    push @{ $by_length{ length $_ } }, ucfirst $_ for @words;
    my $shape = join ',', map { "$_:" . scalar @{ $by_length{$_} } } sort { $a <=> $b } keys %by_length;
    my @sorted = sort { $a cmp $b } @words;
    print "$turn ", length $text, " $changed $shape $sorted[15000] ", commonest_pair(count_neighbours(@words)), ' ',
        unpack('%32C*', $marked), "\n";
}
