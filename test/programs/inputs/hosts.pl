# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: a Perl program that turns a hosts file into zone files: names, aliases, and addresses back to names.
# Invariant: reads a hosts file on standard input; prints the same for the same file, keys always sorted.
# Must not know: the allocator.
use strict;
use warnings;

my (%address_of, %canonical, %host_at, %comment);

while (my $line = <STDIN>) {
    chomp $line;
    my ($entry, $remark) = split /\s*#\s*/, $line, 2;
    my ($address, $name, @aliases) = map { lc } split ' ', $entry;
    next unless defined $name;
    die "line $.: bad address $address\n" unless $address =~ /^\d+(?:\.\d+){3}$/;
    push @{ $address_of{$name} }, $address;
    $host_at{$address} //= $name;
    $canonical{$_} = $name for @aliases;
    $comment{$name} = $remark if defined $remark;
}

# The zone is what follows the first dot.
my %zone;
for my $name (keys %address_of, keys %canonical) {
    my ($host, $zone) = $name =~ /^([^.]+)\.(.+)$/ or next;
    $zone{$zone}{$host} = $name;
}

for my $zone (sort keys %zone) {
    print "\$ORIGIN $zone.\n";
    for my $host (sort keys %{ $zone{$zone} }) {
        my $name = $zone{$zone}{$host};
        print "; $comment{$name}\n" if exists $comment{$name};
        printf "%-20s A     %s\n", $host, $_ for sort @{ $address_of{$name} // [] };
        printf "%-20s CNAME %s.\n", $host, $canonical{$name} if exists $canonical{$name};
    }
}

# Addresses back to names: in the order of the numbers, not of the digits.
my @addresses = map { $_->[1] } sort { $a->[0] cmp $b->[0] } map { [pack('C4', split /\./), $_] } keys %host_at;
print join('.', reverse split /\./, $_), ".in-addr.arpa. PTR $host_at{$_}.\n" for @addresses;
