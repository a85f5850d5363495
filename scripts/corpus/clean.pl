#!/usr/bin/perl
# Documents out of unpacked packages: clean.pl SOURCES DIRECTORY >LINES 2>REPORT
# Reads DIRECTORY/NAME/ for every NAME in SOURCES, strips markup, drops what is not text and what was there
# before, and prints ORDER<tab>CLASS<tab>NAME<tab>BYTES<tab>JSON per document. Same files, same lines.
use strict;
use warnings;
no warnings 'portable';  # 64-bit constants
use File::Basename qw(dirname);
use lib dirname(__FILE__);
use Markup;

my $floor = 200;                  # bytes; below are redirects and stubs
my $ceiling = 65536;              # longer prose is split between paragraphs, longer code is a table of data
my $long_paragraph = 60;          # bytes; shorter ones repeat for good reasons ("Example:")
my $largest_file = 64 << 20;      # bytes, unpacked
my $longest_line = 2000;          # minified, or data
my $index_page = qr{/(?:genindex|py-modindex|search|bookindex)[^/]*$|/_modules/};  # and listings as pages
my %seen;
my $order = 0x9e3779b97f4a7c15;

# One step of xorshift64: documents get a place in the mix that depends on nothing but their number.
sub next_order {
  $order ^= ($order << 13) & 0xffffffffffffffff;
  $order ^= $order >> 7;
  $order ^= ($order << 17) & 0xffffffffffffffff;
  return sprintf '%016x', $order;
}

# Length, both ends and a sum instead of the text: a corpus of paragraphs need not be held in memory.
sub fingerprint {
  my ($text) = @_;
  $text =~ s/\s+/ /g;
  utf8::encode($text);
  return join ':', length $text, substr($text, 0, 40), substr($text, -40), unpack('%32C*', $text) % 65521;
}

sub is_repeated {
  my ($text) = @_;
  return $seen{fingerprint($text)}++ > 0;
}

sub read_file {
  my ($path) = @_;
  my @command = $path =~ /\.(?:gz|dz)$/ ? ('gzip', '-dc', '--', $path) : ();
  open(my $file, @command ? '-|' : '<:raw', @command ? @command : $path) or die "clean.pl: $path: $!\n";
  binmode $file;
  defined read($file, my $content, $largest_file + 1) or die "clean.pl: $path: $!\n";
  my $too_large = length($content) > $largest_file;
  # gzip that was not read to its end complains, and so does one with a damaged file.
  close $file or $too_large or die "clean.pl: $path: cannot be read to its end\n";
  return $too_large ? '' : $content;
}

sub is_utf8 {
  return utf8::decode($_[0]) && $_[0] !~ /[\x{d800}-\x{dfff}\x{fffd}-\x{ffff}]|[^\x{0}-\x{10ffff}]/;
}

# The characters of a file. Bytes that are no UTF-8 cost their paragraph; if they are many, it is another
# encoding and nothing is left.
sub decoded {
  my ($content) = @_;
  return if index($content, "\0") >= 0;
  my $whole = $content;
  return $whole if is_utf8($whole);
  my @paragraphs = grep { is_utf8($_) } split /\n\n/, $content;
  my $text = join "\n\n", @paragraphs;
  return length $text > 0.95 * length $content ? $text : undef;
}

sub tidied {
  my ($text) = @_;
  $text =~ s/\r\n?/\n/g;
  $text =~ tr/\x{feff}\x{200b}\x{ad}//d;
  $text =~ tr/\x{a0}\f\x{b}/ \n\n/;
  $text =~ tr/\x00-\x08\x0e-\x1f\x7f-\x9f//d;
  $text =~ s/[ \t]+$//gm;
  $text =~ s/\n{3,}/\n\n/g;
  $text =~ s/\A\n+|\n+\z//g;
  return $text;
}

# Running English has a function word in every few; indices, tables and other languages have not.
sub is_english {
  my ($text) = @_;
  my $words = () = $text =~ /[A-Za-z]+/g;
  my $function_words = () = $text =~ /\b(?:the|of|and|to|in|is|a|for|that|be|or|with|as|by|on|it|an|not)\b/gi;
  my $letters = ($text =~ tr/A-Za-z//);
  my $visible = ($text =~ tr/ \t\n//c);
  return $words > 0 && $function_words / $words > 0.1 && $letters > 0.6 * $visible;
}

sub is_written_code {
  my ($text) = @_;
  return 0 if substr($text, 0, 3000) =~ /\b(?:do not edit|generated (?:by|from|automatically)|auto-?generated)\b/i;
  my $letters = ($text =~ tr/A-Za-z_//);
  my $visible = ($text =~ tr/ \t\n//c);
  return $letters > 0.5 * $visible;
}

# A paragraph that was there before goes: notices, headers and footers that every page repeats.
sub prose_documents {
  my ($text) = @_;
  my @kept = grep { length() < $long_paragraph || !is_repeated($_) } split /\n\n+/, $text;
  my @documents = ('');
  for my $paragraph (@kept) {
    next if length $paragraph > $ceiling;
    push @documents, '' if length($documents[-1]) + length($paragraph) + 2 > $ceiling;
    $documents[-1] .= ($documents[-1] eq '' ? '' : "\n\n") . $paragraph;
  }
  return grep { is_english($_) } @documents;
}

# Code stays whole, but for a licence at its top that was there before; a copy of other files goes as a whole.
sub code_documents {
  my ($text) = @_;
  return if length $text > $ceiling || !is_written_code($text);
  my @paragraphs = split /\n\n+/, $text;
  my @repeated = map { length() >= $long_paragraph && is_repeated($_) } @paragraphs;
  my $copied = 0;
  $copied += $repeated[$_] ? length $paragraphs[$_] : 0 for 0 .. $#paragraphs;
  return if $copied > 0.5 * length $text;
  shift @paragraphs if $repeated[0] && $paragraphs[0] =~ m{^(?://|#|/\*|--)};
  return join "\n\n", @paragraphs;
}

sub json_string {
  my ($text) = @_;
  $text =~ s/(["\\])/\\$1/g;
  $text =~ s/\n/\\n/g;
  $text =~ s/\t/\\t/g;
  return "\"$text\"";
}

sub documents_of {
  my ($source, $path) = @_;
  my $content = decoded(read_file($path)) // return;
  my $text = tidied(Markup::text_of($path, $content));
  return if $text =~ /[^\n]{$longest_line}/ && $source->{class} eq 'code';
  my @documents = $source->{class} eq 'code' ? code_documents($text) : prose_documents($text);
  return grep { length >= $floor && !is_repeated($_) } @documents;
}

sub files_below {
  my ($directory) = @_;
  opendir(my $handle, $directory) or die "clean.pl: $directory: $!\n";
  my @paths = map { "$directory/$_" } sort grep { !/^\.\.?$/ } readdir $handle;
  # Links would bring the same file in twice, or others than the package's.
  return map { -l $_ ? () : -d _ ? files_below($_) : -f _ ? $_ : () } @paths;
}

sub clean_source {
  my ($source, $root) = @_;
  return unless -d "$root/$source->{name}";
  for my $path (grep { /$source->{files}/ && !/$index_page/ } files_below("$root/$source->{name}")) {
    for my $text (documents_of($source, $path)) {
      my $json = '{"text": ' . json_string($text) . ", \"source\": \"$source->{name}\"}";
      utf8::encode($text);
      utf8::encode($json);
      print join("\t", next_order(), $source->{class}, $source->{name}, length $text, $json), "\n"
        or die "clean.pl: cannot write: $!\n";
    }
  }
}

die "usage: clean.pl SOURCES DIRECTORY\n" unless @ARGV == 2;
my ($table, $root) = @ARGV;
open(my $sources, '<', $table) or die "clean.pl: $table: $!\n";
while (<$sources>) {
  next if /^\s*(?:#|$)/;
  my %source;
  @source{qw(name class files)} = split;
  clean_source(\%source, $root);
}
close STDOUT or die "clean.pl: cannot write: $!\n";
