<?php
// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a catalogue of books built as a DOM, asked by XPath, turned into text and counted, several times over.
// Invariant: prints the same each time; ends with an error when an extension is missing.
// Must not know: which malloc it runs on.

const BOOKS = 1500;
const TITLES = ['Äpfel und Birnen', 'Ελληνικά', 'Русские сказки', '日本語の本', 'Plain words'];

foreach (['mbstring', 'dom', 'xml', 'xmlreader', 'xmlwriter', 'SimpleXML'] as $extension) {
    if (!extension_loaded($extension)) {
        fwrite(STDERR, "job.php: the extension $extension is not loaded\n");
        exit(1);
    }
}

function catalogue(int $books): DOMDocument
{
    $document = new DOMDocument('1.0', 'UTF-8');
    $root = $document->appendChild($document->createElement('books'));
    for ($i = 0; $i < $books; $i++) {
        $book = $root->appendChild($document->createElement('book'));
        $book->setAttribute('year', (string) (1900 + $i * 7 % 120));
        $title = TITLES[$i % count(TITLES)] . ' ' . $i;
        $book->appendChild($document->createElement('title', mb_strtoupper($title)));
        $book->appendChild($document->createElement('pages', (string) (50 + $i * 31 % 700)));
    }
    return $document;
}

function pages_by_decade(string $xml): array
{
    $pages = [];
    $reader = XMLReader::XML($xml);
    while ($reader->read()) {
        if ($reader->nodeType !== XMLReader::ELEMENT || $reader->name !== 'book') {
            continue;
        }
        $book = simplexml_load_string($reader->readOuterXml());
        $decade = intdiv((int) $book['year'], 10) * 10;
        $pages[$decade] = ($pages[$decade] ?? 0) + (int) $book->pages;
    }
    ksort($pages);
    return $pages;
}

function report(array $pages): string
{
    $writer = new XMLWriter();
    $writer->openMemory();
    $writer->startElement('decades');
    foreach ($pages as $decade => $sum) {
        $writer->writeElement("d$decade", (string) $sum);
    }
    $writer->endElement();
    return $writer->outputMemory();
}

for ($round = 1; $round <= 4; $round++) {
    $document = catalogue(BOOKS * $round);
    $xml = $document->saveXML();
    $path = new DOMXPath($document);
    echo "round $round: ", strlen($xml), ' bytes, ', md5($xml), "\n";
    echo '  late: ', $path->query('//book[@year > 1990]')->length, "\n";
    echo '  longest title: ', max(array_map('mb_strlen', explode("\n", mb_convert_case($xml, MB_CASE_LOWER)))), "\n";
    echo '  ', report(pages_by_decade($xml)), "\n";
    $words = array_count_values(preg_split('/[^\p{L}]+/u', strip_tags($xml)));
    ksort($words);
    echo '  ', implode(' ', array_map(fn ($w, $n) => "$w:$n", array_keys($words), $words)), "\n";
}
