# Text out of markup: HTML and its relatives, POD, dictd databases. Only what perl-base has.
package Markup;
use strict;
use warnings;

# Elements whose content is no prose: programs, pictures, and the way around the pages.
my %hidden = map { $_ => 1 } qw(head script style nav footer noscript svg math button select form aside info);
my $furniture = qr/\b(?:sphinxsidebar\w*|related|footer|navheader|navfooter|navigation|docnav|toc\w*|
  headerlink|breadcrumbs?|menu|linenos|genindex\w*|searchbox|page_header|quickview|top|docman_nav)\b/x;

my %is_void = map { $_ => 1 } qw(area base br col embed hr img input link meta source track wbr);
my %line_break = map { $_ => "\n" } qw(br tr li dt dd option caption item);
my %paragraph_break = map { $_ => "\n\n" } qw(p div h1 h2 h3 h4 h5 h6 ul ol dl table section article
  blockquote pre hr title note code-block steps terms screen listing);

my %entity = (
  amp => '&', lt => '<', gt => '>', quot => '"', apos => "'", nbsp => ' ', copy => "\x{a9}", reg => "\x{ae}",
  ndash => "\x{2013}", mdash => "\x{2014}", lsquo => "\x{2018}", rsquo => "\x{2019}", ldquo => "\x{201c}",
  rdquo => "\x{201d}", hellip => "\x{2026}", bull => "\x{2022}", middot => "\x{b7}", times => "\x{d7}",
  rarr => "\x{2192}", larr => "\x{2190}", sect => "\x{a7}", eacute => "\x{e9}", egrave => "\x{e8}",
  ouml => "\x{f6}", uuml => "\x{fc}", auml => "\x{e4}", szlig => "\x{df}", ccedil => "\x{e7}", deg => "\x{b0}",
);

sub character {
  my ($name) = @_;
  my $code = $name =~ /^#[xX]([0-9a-fA-F]{1,6})$/ ? hex $1 : $name =~ /^#([0-9]{1,7})$/ ? $1 : undef;
  return $entity{$name} // "&$name;" unless defined $code;
  return ' ' if $code < 32 || $code > 0x10ffff || ($code >= 0xd800 && $code <= 0xdfff);
  return chr $code;
}

# Where the element that was just opened ends; pages forget to close things, and then the rest is furniture.
sub skip_element {
  my ($html, $name) = @_;
  my $depth = 1;
  while ($$html =~ /\G.*?<(\/?)\Q$name\E\b[^>]*>/gcis) {
    $depth += $1 ? -1 : 1;
    return if $depth == 0;
  }
  pos($$html) = length $$html;
}

sub from_html {
  my ($html) = @_;
  $html =~ s/<!--.*?-->//gs;
  $html =~ s/<(\?|!).*?>//gs;
  my ($text, $in_pre) = ('', 0);
  pos($html) = 0;
  while ($html =~ /\G([^<]*)(?:<(\/?)([a-zA-Z][\w:-]*)([^>]*)>|(<))?/gc) {
    my ($words, $closing, $name, $attributes, $stray) = ($1, $2, $3, $4, $5);
    last if $words eq '' && !defined $name && !defined $stray;
    $words =~ s/\s+/ /g unless $in_pre;
    $text .= $words;
    $text .= '<' if defined $stray;
    next unless defined $name;
    $name = lc $name;
    if (!$closing && !$is_void{$name} && $attributes !~ m{/$}
      && ($hidden{$name} || (index($attributes, 'class') >= 0 && $attributes =~ /class\s*=\s*["']?[^"'>]*$furniture/))) {
      skip_element(\$html, $name);
      next;
    }
    $in_pre = !$closing if $name eq 'pre' || $name eq 'screen';
    if (my $break = $paragraph_break{$name} // ($closing ? undef : $line_break{$name})) { $text .= $break }
    elsif ($name eq 'td' || $name eq 'th') { $text .= ' ' }
  }
  $text =~ s/&(#?\w{1,10});/character($1)/ge;
  $text =~ s/^ (?=\S)//gm;
  return $text;
}

# Formatting codes lose their letter and brackets, commands their name.
sub from_pod {
  my ($pod) = @_;
  my $text = '';
  for my $paragraph (split /\n\s*\n/, $pod) {
    next if $paragraph =~ /^=(?:begin|end|for|encoding|cut|pod|over|back)\b/;
    $paragraph =~ s/^=\w+\s*//;
    next if $paragraph =~ /^\*?\s*$/;
    if ($paragraph !~ /^\s/) {
      1 while $paragraph =~ s/\b[A-Z]<<+\s(.*?)\s>>+/$1/s || $paragraph =~ s/\b[A-Z]<([^<>]*)>/$1/;
      $paragraph =~ s/\s*\n\s*/ /g;
    }
    $text .= "$paragraph\n\n";
  }
  return $text;
}

# An entry begins at the margin, so a paragraph begins there; editions are named after every sense.
sub from_dictionary {
  my ($text) = @_;
  $text =~ s/[ \t\n]*\[(?:1913 Webster|Webster 1913 Suppl\.|PJC|WordNet 1\.5)[^\]]*\]//g;
  $text =~ s/\n(?=\S)/\n\n/g;
  $text =~ s/\n[ \t]+/\n /g;
  $text =~ tr/{}//d;
  return $text;
}

sub text_of {
  my ($path, $content) = @_;
  return from_html($content) if $path =~ /\.(?:x?html?|page)(?:\.en)?$/;
  return from_pod($content) if $path =~ /\.pod$/;
  return from_dictionary($content) if $path =~ /\.dict(?:\.dz)?$/;
  return $content;
}

1;
