# SPDX-License-Identifier: MIT
# A driver as small as they come: a fifth language, Perl, for a test only. See toy.h.
use strict;
use warnings;

open(my $control, "+<&=", 3) or die;
my ($id, $state) = (0, 0);

sub take {
    my ($count, $bytes) = (shift, "");
    while (length($bytes) < $count) {
        sysread($control, $bytes, $count - length($bytes), length($bytes)) or exit 0;
    }
    return $bytes;
}

sub words {
    my ($line, $byte) = ("", "");
    $line .= $byte while ($byte = take(1)) ne "\n";
    return split / /, $line;
}

sub frame {
    my ($type, $of, $count) = words();
    my %parts;
    for (1 .. $count) {
        my ($name, $length) = words();
        $parts{$name} = take($length);
    }
    return ($type, $of, %parts);
}

sub tell_server {
    my ($type, $of, %parts) = @_;
    my $bytes = "$type $of " . keys(%parts) . "\n";
    $bytes .= "$_ " . length($parts{$_}) . "\n$parts{$_}" for sort keys %parts;
    syswrite($control, $bytes);
}

# Cells share this package; its variables are the state.
sub run_cell {
    my ($of, $code) = @_;
    local $SIG{INT} = sub { die "interrupted\n" };
    my $value = eval "package main; no strict; $code";
    my $error = $@;
    if ($error) {
        my $status = $error eq "interrupted\n" ? "interrupted" : "error";
        return tell_server("done", $of, status => $status, traceback => $error);
    }
    tell_server("result", $of, "text/plain" => $value) if defined $value;
    tell_server("done", $of, status => "ok");
}

$| = 1;
$SIG{INT} = "IGNORE";
while (1) {
    my ($type, $of, %parts) = frame();
    tell_server("ready", 0, proto => "1", nonce => $parts{nonce}, version => "$^V") if $type eq "hello";
    run_cell($of, $parts{code}) if $type eq "exec";
    tell_server("done", $of, status => "ok", vars => "") if $type eq "vars";
}
