#!/usr/bin/env bash
# Makes the documents in this folder again. Not part of the tests: they read the files that are checked in.
#
# On Debian: apt-get install libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui pandoc chromium \
#   enscript ghostscript groff wkhtmltopdf qpdf zip mpack python3-docx python3-openpyxl gnumeric fonts-noto-cjk
#
# What each file must contain is in table.ts.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf libreoffice pandoc chromium debian gnumeric iconv broken
mkdir -p libreoffice pandoc chromium debian gnumeric iconv broken

# The sources. Each has headings, a list, a table, characters that need escaping, and other scripts.
cat > "$work/letter.md" <<'MD'
---
title: Harvest report
author: Ada Example
---

# Apples & pears

The harvest of **2026** was good: 1 < 2, and “quoted” words stay.[^1]

- First point
- Second point

## Figures

| Orchard | Tons | Note |
|---------|-----:|------|
| North   |  120 | dry  |
| South   |   95 | wet  |

```python
print("hello")
```

# Other scripts

Grüße aus Köln. Привет, мир. 日本語のテキスト。

[^1]: The footnote says hello.
MD
cat > "$work/page.html" <<'HTML'
<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Harvest page</title>
<style>body{font-family:sans-serif} .next{break-before:page}</style>
<script>document.addEventListener('DOMContentLoaded',()=>{document.querySelector('#made').textContent='Made by a script.'})</script></head>
<body><h1>Apples &amp; pears</h1><p>The harvest of <b>2026</b> was good: 1 &lt; 2.</p>
<ul><li>First point</li><li>Second point</li></ul>
<table border="1"><tr><th>Orchard</th><th>Tons</th></tr><tr><td>North</td><td>120</td></tr></table>
<p id="made"></p><p class="next">The second page: Grüße aus Köln.</p></body></html>
HTML
printf '<!doctype html><meta charset="utf-8"><body style="font-family:Noto Sans CJK JP"><p>日本語のテキスト。</p><p>中文文本</p>' > "$work/cjk.html"
cat > "$work/sales.fods" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:automatic-styles><number:date-style style:name="D"><number:year number:style="long"/><number:text>-</number:text><number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/></number:date-style><style:style style:name="date" style:family="table-cell" style:data-style-name="D"/></office:automatic-styles>
<office:body><office:spreadsheet>
<table:table table:name="Sales 2026"><table:table-row><table:table-cell office:value-type="string"><text:p>Orchard</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>Day</text:p></table:table-cell><table:table-cell office:value-type="string"><text:p>Tons</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>North, upper</text:p></table:table-cell><table:table-cell table:style-name="date" office:value-type="date" office:date-value="2026-01-15"><text:p>2026-01-15</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="120.5"><text:p>120.5</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>日本</text:p></table:table-cell><table:table-cell table:style-name="date" office:value-type="date" office:date-value="2026-12-31"><text:p>2026-12-31</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="95"><text:p>95</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>Sum</text:p></table:table-cell><table:table-cell/><table:table-cell table:formula="of:=SUM([.C2:.C3])" office:value-type="float" office:value="215.5"><text:p>215.5</text:p></table:table-cell></table:table-row></table:table>
<table:table table:name="Notes"><table:table-row><table:table-cell office:value-type="string"><text:p>The second sheet</text:p></table:table-cell></table:table-row></table:table>
</office:spreadsheet></office:body></office:document>
XML
cat > "$work/slides.md" <<'MD'
% Harvest talk
% Ada Example

# Apples & pears

- First point
- Second point

# Figures

| Orchard | Tons |
|---------|-----:|
| North   |  120 |

# Other scripts

Grüße aus Köln. 日本語のテキスト。

::: notes
Speak slowly here.
:::
MD

# Pandoc
pan() { pandoc --wrap=none "$@"; }
pan "$work/letter.md" -o pandoc/letter.docx
pan "$work/letter.md" --toc -o pandoc/contents.docx
pan "$work/letter.md" -o pandoc/letter.odt
pan "$work/letter.md" -t epub3 -o pandoc/letter.epub
pan "$work/letter.md" -t epub2 -o pandoc/epub2.epub
pan "$work/letter.md" -s -o pandoc/letter.rtf
pan "$work/letter.md" -s -o pandoc/letter.html
pan "$work/letter.md" -s -t slidy -o pandoc/slidy.html
pan "$work/letter.md" -o pandoc/letter.ipynb
pan "$work/slides.md" -o pandoc/slides.pptx
printf '# Energy\n\nMass: $E=mc^2$ for all.\n' > "$work/formula.md"
pan "$work/formula.md" -o pandoc/formula.pptx
pan "$work/letter.md" -s -t ms | sed '/日本/d' | groff -k -t -ms -Tps 2> /dev/null | ps2pdf - pandoc/groff.pdf
pan "$work/letter.md" -s --pdf-engine=wkhtmltopdf -t html5 -o pandoc/wkhtml.pdf 2> /dev/null

# LibreOffice
office() { # FILTER SOURCE TARGET
  local out="$work/out"
  rm -rf "$out"
  soffice -env:UserInstallation="file://$work/profile" --headless --convert-to "$1" --outdir "$out" "$2" > /dev/null 2>&1
  mv "$out"/* "$3"
}
office docx:"MS Word 2007 XML" pandoc/letter.odt libreoffice/letter.docx
office docm:"MS Word 2007 XML VBA" pandoc/letter.odt libreoffice/letter.docm
office odt pandoc/letter.docx libreoffice/letter.odt
office rtf pandoc/letter.odt libreoffice/letter.rtf
office epub pandoc/letter.odt libreoffice/letter.epub
office pdf pandoc/letter.odt libreoffice/letter.pdf
office html:"HTML (StarWriter)" pandoc/letter.odt libreoffice/letter.html
office xlsx "$work/sales.fods" libreoffice/sales.xlsx
office xlsm:"Calc MS Excel 2007 VBA XML" "$work/sales.fods" libreoffice/sales.xlsm
office ods "$work/sales.fods" libreoffice/sales.ods
office csv:"Text - txt - csv (StarCalc)":44,34,76 "$work/sales.fods" libreoffice/sales.csv
office pdf "$work/sales.fods" libreoffice/sales.pdf
office html "$work/sales.fods" libreoffice/sales.html
office pptx pandoc/slides.pptx libreoffice/slides.pptx
office odp pandoc/slides.pptx libreoffice/slides.odp
office pdf pandoc/slides.pptx libreoffice/slides.pdf

# Chromium
browser() { chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" "$@" 2> /dev/null; }
browser --no-pdf-header-footer --print-to-pdf="$PWD/chromium/page.pdf" "file://$work/page.html"
browser --no-pdf-header-footer --print-to-pdf="$PWD/chromium/cjk.pdf" "file://$work/cjk.html"
browser --dump-dom "file://$work/page.html" > chromium/dumped.html

# Tools of Debian
printf 'Apples and pears.\nThe harvest of 2026 was good.\n\fThe second page.\n' > "$work/plain.txt"
enscript -q -B -o - "$work/plain.txt" | ps2pdf - debian/enscript.pdf
groff -man -Tpdf <<< $'.TH HARVEST 1\n.SH NAME\nharvest \\- count apples' > debian/man.pdf
groff -man -Thtml <<< $'.TH HARVEST 1\n.SH NAME\nharvest \\- count apples' > debian/man.html
wkhtmltopdf -q "$work/page.html" debian/wkhtml.pdf 2> /dev/null
qpdf --linearize chromium/page.pdf debian/linearized.pdf
qpdf --object-streams=generate --compression-level=9 libreoffice/letter.pdf debian/streams.pdf
qpdf --encrypt '' owner 256 --print=none -- chromium/page.pdf debian/owner.pdf
gs -q -dNOPAUSE -dBATCH -sDEVICE=pdfwrite -o debian/merged.pdf chromium/page.pdf debian/enscript.pdf
mkdir -p "$work/tree/notes/Grüße"
printf 'hello\n' > "$work/tree/notes/readme.txt"
printf 'a,b\n1,2\n' > "$work/tree/notes/Grüße/data.csv"
(cd "$work/tree" && zip -q -X -r "$work/tree.zip" notes && zip -q -X -r -P secret "$work/locked.zip" notes)
mv "$work/tree.zip" debian/tree.zip
mv "$work/locked.zip" debian/locked.zip
tar -C "$work/tree" -czf debian/tree.tar.gz notes
mpack -s 'Harvest & more' -d <(printf 'See the table.\n') -c application/zip -o debian/mpack.eml debian/tree.zip
/usr/bin/python3 - "$work" <<'PY'
import datetime, sys
from email.message import EmailMessage
from email.headerregistry import Address
mail = EmailMessage()
mail['From'] = Address('Ädä Example', 'ada', 'a.example')
mail['To'] = 'bob@b.example'
mail['Date'] = 'Mon, 16 Nov 2026 09:30:12 +0000'
mail['Subject'] = 'Grüße aus Köln, 日本語'
mail.set_content('Liebe Leute,\n\ndie Ernte war gut: 1 = 1, ' + 'und so weiter ' * 8 + 'Ende.\n', cte='quoted-printable')
mail.add_alternative('<p>HTML <b>only</b></p>', subtype='html')
mail.add_attachment(b'%PDF-1.4 not really', maintype='application', subtype='pdf', filename='Übersicht.pdf')
open('debian/python.eml', 'wb').write(bytes(mail))
html = EmailMessage()
html['Subject'] = 'Only HTML'
html.set_content('<h1>Apples &amp; pears</h1><p>The harvest was good.</p>', subtype='html', charset='iso-8859-1')
open('debian/html.eml', 'wb').write(bytes(html))

from docx import Document
document = Document()
document.add_heading('Apples & pears', 1)
document.add_paragraph('The harvest was good.')
table = document.add_table(2, 2)
for row, cells in enumerate([['Orchard', 'Tons'], ['North', '120']]):
    for column, text in enumerate(cells):
        table.cell(row, column).text = text
document.save('debian/python.docx')

document = Document()
paragraph = document.add_paragraph('Price:\t12\nper crate')
paragraph.add_run().add_break()
paragraph.add_run('and more')
table = document.add_table(2, 2)
for row, cells in enumerate([['Orchard', 'Address'], ['North', 'Hill 1\nKöln']]):
    for column, text in enumerate(cells):
        table.cell(row, column).text = text
document.save('debian/breaks.docx')

from openpyxl import Workbook
book = Workbook()
sheet = book.active
sheet.title = 'Sales'
sheet.append(['Orchard', 'When', 'Tons', 'Good'])
sheet.append(['North', datetime.datetime(2026, 1, 15, 9, 30), 120.5, True])
sheet.append(['South', datetime.date(2026, 12, 31), 95, False])
book.create_sheet('Empty')
book.save('debian/openpyxl.xlsx')

times = Workbook()
times.active.append(['Begin', datetime.time(9, 30), datetime.datetime(2026, 1, 15, 23, 59, 59)])
times.save(sys.argv[1] + '/times.xlsx')

durations = Workbook()
sheet_of = durations.active
sheet_of.append(['Trip', datetime.timedelta(hours=26, minutes=30)])
sheet_of.append(['Year', datetime.timedelta(hours=9000)])
sheet_of.append(['Day', datetime.datetime(1900, 1, 1, 2, 30)])
durations.save('debian/durations.xlsx')

sheet.cell(1048576, 16384, 'far away')
book.save('broken/far.xlsx')
PY

ssconvert "$work/times.xlsx" gnumeric/times.ods
mv "$work/times.xlsx" debian/times.xlsx
printf 'Größe;Preis\r\nklein;1,50 €\r\n' | iconv -f UTF-8 -t WINDOWS-1252 > iconv/windows.csv
printf 'Größe\tPreis\r\nklein\t1,50 €\r\n' | iconv -f UTF-8 -t UTF-16 > iconv/utf16.csv
printf 'Größe\tPreis\r\nklein\t1,50 €\r\n' | iconv -f UTF-8 -t UTF-16LE > iconv/unmarked.csv
printf '<!doctype html><meta charset="iso-8859-2"><h1>Zażółć</h1>' | iconv -f UTF-8 -t ISO-8859-2 > iconv/latin2.html
printf '<!doctype html><h1>Größe</h1>' | iconv -f UTF-8 -t UTF-16 > iconv/utf16.html

# Broken and hostile ones
head -c 3000 pandoc/letter.docx > broken/cut.docx
head -c 9000 libreoffice/letter.pdf > broken/cut.pdf
head -c 3000 libreoffice/sales.xlsx > broken/cut.xlsx
head -c 4000 pandoc/letter.epub > broken/cut.epub
: > broken/empty.docx
cp "$work/plain.txt" broken/text.pptx
cp chromium/dumped.html broken/html.docx
qpdf --encrypt user owner 256 -- chromium/page.pdf broken/password.pdf
/usr/bin/python3 - <<'PY'
import io, zipfile, zlib
def swap(source, target, name, data):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for each in old.namelist():
            new.writestr(each, data(old.read(each)) if each == name else old.read(each))
many = 130_000_000
swap('pandoc/letter.docx', 'broken/bomb.docx', 'word/document.xml', lambda old: old + b' ' * many)
swap('debian/openpyxl.xlsx', 'broken/bomb.xlsx', 'xl/worksheets/sheet1.xml', lambda old: old + b' ' * many)
swap('pandoc/letter.docx', 'broken/entities.docx', 'word/document.xml', lambda old: old.replace(b'<w:document', b'<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa">' + b''.join(b'<!ENTITY %c "&%c;&%c;&%c;&%c;&%c;&%c;&%c;&%c;&%c;&%c;">' % ((c,) + (c - 1,) * 10) for c in range(98, 108)) + b']><w:document', 1).replace(b'First point', b'&k;'))
import re
# As if somebody had moved the slides: only their list changes.
swap('pandoc/slides.pptx', 'debian/moved.pptx', 'ppt/presentation.xml', lambda old: re.sub(rb'(<p:sldIdLst>)(.*?)(</p:sldIdLst>)', lambda found: found[1] + b''.join(reversed(re.findall(rb'<p:sldId [^>]*>', found[2]))) + found[3], old, flags=re.S))
with zipfile.ZipFile('broken/missing.docx', 'w') as new:
    new.writestr('readme.txt', 'no document here')
stream = zlib.compress(b'0 0 m ' * 90_000_000, 9)
stream = zlib.compress(stream, 9)
objects = [b'<< /Type /Catalog /Pages 2 0 R >>', b'<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    b'<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>',
    b'<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n' % len(stream) + stream + b'\nendstream']
file, offsets = b'%PDF-1.4\n', []
for number, body in enumerate(objects, 1):
    offsets.append(len(file))
    file += b'%d 0 obj\n' % number + body + b'\nendobj\n'
table = b''.join(b'%010d 00000 n \n' % offset for offset in offsets)
open('broken/bomb.pdf', 'wb').write(file + b'xref\n0 5\n0000000000 65535 f \n' + table + b'trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n' % len(file))
open('broken/noise.pdf', 'wb').write(b'%PDF-1.7\n' + bytes((at * at * 7 + at) % 251 for at in range(40_000)))
open('broken/deep.html', 'w').write('<div>' * 20_000 + 'At the bottom' + '</div>' * 20_000)
PY
gzip -9 -n -f broken/bomb.docx broken/bomb.xlsx broken/deep.html
