import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** Documents that real programs have made, with what must be read from them. `make.sh` makes them again. */

const LETTER = [
  'Apples & pears',
  'was good: 1 < 2, and “quoted” words stay.',
  'First point',
  'Second point',
  'Figures',
];
const SCRIPTS = 'Grüße aus Köln. Привет, мир. 日本語のテキスト。';
const FOOTNOTE = 'The footnote says hello.';
const CODE = 'print("hello")';
const ROWS = ['| North | 120 | dry |', '| South | 95 | wet |'];
const MARKDOWN = [
  ...LETTER.slice(0, 1),
  'The harvest of **2026**',
  ...LETTER.slice(1),
  'Orchard',
  ...ROWS,
  CODE,
  SCRIPTS,
];
const OFFICE = ['# Harvest report', ...MARKDOWN, FOOTNOTE];
const PRINTED = [...LETTER, 'Orchard Tons Note\nNorth 120 dry\nSouth 95 wet'];
const PAGE = ['## Page 1\n\nApples & pears\nThe harvest of 2026 was good: 1 < 2.\nFirst point\nSecond point'];
const PAGES = [
  ...PAGE,
  'Orchard Tons\nNorth 120\nMade by a script.\n\n## Page 2\n\nThe second page: Grüße aus Köln.',
];
const SHEETS = [
  '## Sheet 1: Sales 2026\n\nOrchard,Day,Tons\n"North, upper",2026-01-15,120.5\n日本,2026-12-31,95\nSum,,215.5\n\n## Sheet 2: Notes\n\nThe second sheet',
];
const SLIDES = [
  '## Slide 1\n\n# Harvest talk',
  'Ada Example',
  '## Slide 2\n\n# Apples & pears',
  'First point',
  '## Slide 3\n\n# Figures',
  '| Orchard | Tons |\n| --- | --- |\n| North | 120 |',
  '## Slide 4\n\n# Other scripts\n\nGrüße aus Köln. 日本語のテキスト。',
];
const HTML = ['# Apples & pears', 'The harvest of **2026** was good: 1 < 2', '- First point\n- Second point'];
const TREE = ['2 files, 14 bytes', '- notes/readme.txt (6 bytes)', '- notes/Grüße/data.csv (8 bytes)'];

/** What the text of each document contains, in this order. */
export const TEXTS: Readonly<Record<string, readonly string[]>> = {
  'pandoc/letter.docx': OFFICE,
  'pandoc/contents.docx': OFFICE,
  'pandoc/letter.odt': [...LETTER, '| **Orchard** | Tons | **Note** |', ...ROWS, CODE, SCRIPTS, FOOTNOTE],
  'pandoc/letter.epub': [...MARKDOWN.slice(0, -1), FOOTNOTE, SCRIPTS],
  'pandoc/epub2.epub': [...MARKDOWN.slice(0, -1), FOOTNOTE, SCRIPTS],
  'pandoc/letter.rtf': [...MARKDOWN, FOOTNOTE],
  'pandoc/letter.html': [
    '# Apples & pears',
    'The harvest of **2026**',
    '| Orchard | Tons | Note |',
    ...ROWS,
    CODE,
    SCRIPTS,
    FOOTNOTE,
  ],
  'pandoc/slidy.html': ['# Apples & pears', 'The harvest of **2026**', ...ROWS, SCRIPTS],
  'pandoc/letter.ipynb': ['# Apples & pears', '``` python\nprint("hello")\n```', SCRIPTS],
  'pandoc/formula.pptx': ['# Energy', 'Mass: E=mc2 for all.'],
  'pandoc/slides.pptx': [...SLIDES, 'Speak slowly here.'],
  'pandoc/groff.pdf': [...PRINTED, CODE, 'Grüße aus Köln.', FOOTNOTE],
  'pandoc/wkhtml.pdf': [...PRINTED, SCRIPTS, FOOTNOTE],
  'libreoffice/letter.docx': OFFICE,
  'libreoffice/letter.docm': OFFICE,
  'libreoffice/letter.odt': OFFICE,
  'libreoffice/letter.rtf': OFFICE,
  // LibreOffice leaves out the first row of the table.
  'libreoffice/letter.epub': [...LETTER, ...ROWS.map((row) => row.slice(2, 7)), CODE, FOOTNOTE, SCRIPTS],
  'libreoffice/letter.pdf': [...PRINTED, CODE, SCRIPTS, FOOTNOTE],
  'libreoffice/letter.html': ['# Apples & pears', 'First point', 'North', '120', CODE, SCRIPTS, FOOTNOTE],
  'libreoffice/sales.xlsx': SHEETS,
  'libreoffice/sales.xlsm': SHEETS,
  'libreoffice/sales.ods': SHEETS,
  'libreoffice/sales.csv': [
    'Orchard,Day,Tons\n"North, upper",2026-01-15,120.5\n日本,2026-12-31,95\nSum,,215.5',
  ],
  'libreoffice/sales.pdf': [
    'North, upper 2026-01-15 120.5\n日本 2026-12-31 95\nSum 215.5',
    '## Page 2',
    'The second sheet',
  ],
  'libreoffice/sales.html': ['North, upper', '2026-01-15', '120.5', '日本', 'The second sheet'],
  'libreoffice/slides.pptx': [...SLIDES, 'Speak slowly here.'],
  'libreoffice/slides.odp': [...SLIDES, 'Speak slowly here.'],
  'libreoffice/slides.pdf': [
    '## Page 2\n\nApples & pears\n• First point',
    '## Page 4',
    'Grüße aus Köln. 日本語のテキスト。',
  ],
  'chromium/page.pdf': PAGES,
  'chromium/cjk.pdf': ['日本語のテキスト。\n中文文本'],
  'chromium/dumped.html': [
    ...HTML,
    '| Orchard | Tons |\n| --- | --- |\n| North | 120 |',
    'Made by a script.',
    'Grüße aus Köln.',
  ],
  'debian/enscript.pdf': [
    'Apples and pears.\nThe harvest of 2026 was good.\n\n## Page 2\n\nThe second page.',
  ],
  'debian/man.pdf': ['HARVEST(1)', 'harvest - count apples'],
  'debian/man.html': ['HARVEST', 'count apples'],
  'debian/wkhtml.pdf': PAGES,
  'debian/linearized.pdf': PAGES,
  'debian/streams.pdf': [...PRINTED, CODE, SCRIPTS],
  'debian/owner.pdf': PAGES,
  'debian/merged.pdf': [...PAGES, '## Page 3\n\nApples and pears.', '## Page 4\n\nThe second page.'],
  'debian/tree.zip': TREE,
  'debian/locked.zip': TREE,
  'debian/mpack.eml': [
    'Subject: Harvest & more\n\nSee the table.',
    'Attachments:\n- tree.zip (application/zip, 456 bytes)',
  ],
  'debian/python.eml': [
    'From: Ädä Example <ada@a.example>',
    'Subject: Grüße aus Köln, 日本語\n\nLiebe Leute,\n\ndie Ernte war gut: 1 = 1, und so weiter und so weiter und so weiter und so weiter und so weiter',
    'Attachments:\n- Übersicht.pdf (application/pdf, 19 bytes)',
  ],
  'debian/html.eml': ['Subject: Only HTML\n\n# Apples & pears\n\nThe harvest was good.'],
  'debian/moved.pptx': [
    '## Slide 1\n\n# Other scripts\n\nGrüße aus Köln.',
    'Speak slowly here.',
    '## Slide 2\n\n# Figures',
    '## Slide 3\n\n# Apples & pears',
    '## Slide 4\n\n# Harvest talk',
  ],
  'debian/python.docx': [
    '# Apples & pears',
    'The harvest was good.',
    '| Orchard | Tons |\n| --- | --- |\n| North | 120 |',
  ],
  'debian/openpyxl.xlsx': [
    '## Sheet 1: Sales',
    'North,2026-01-15 09:30:00,120.5,true\nSouth,2026-12-31,95,false',
    '## Sheet 2: Empty',
  ],
  'debian/breaks.docx': [
    'Price:\t12\nper crate\nand more',
    '| Orchard | Address |\n| --- | --- |\n| North | Hill 1 Köln |',
  ],
  'debian/durations.xlsx': ['Trip,26:30:00\nYear,9000:00:00\nDay,1900-01-01 02:30:00'],
  'debian/times.xlsx': ['Begin,09:30:00,2026-01-15 23:59:59'],
  'gnumeric/times.ods': ['Begin,09:30:00,2026-01-15 23:59:59'],
  'iconv/windows.csv': ['Größe;Preis\r\nklein;1,50 €'],
  'iconv/utf16.csv': ['Größe\tPreis\r\nklein\t1,50 €'],
  'iconv/latin2.html': ['# Zażółć'],
  'iconv/unmarked.csv': ['Größe\tPreis\r\nklein\t1,50 €'],
  'iconv/utf16.html': ['# Größe'],
  'broken/deep.html.gz': ['At the bottom'],
  // The entities are not expanded.
  'broken/entities.docx': ['# Apples & pears', '- &k;\n- Second point', SCRIPTS],
};

/** Why others are not read. */
export const REASONS: Readonly<Record<string, RegExp>> = {
  'broken/bomb.docx.gz': /^it would inflate to 130\.0 MB/,
  'broken/bomb.xlsx.gz': /^it would inflate to 130\.0 MB/,
  'broken/bomb.pdf': /^it (?:could not be read within 5 s|needs too much memory)/,
  'broken/cut.docx': /^it is damaged/,
  'broken/cut.epub': /^it is damaged/,
  'broken/cut.pdf': /^it is damaged/,
  'broken/cut.xlsx': /^it is damaged/,
  'broken/empty.docx': /^it is not such a document$/,
  'broken/missing.docx': /^it is not such a document$/,
  'broken/html.docx': /^it is not such a document$/,
  'broken/text.pptx': /^it is not such a document$/,
  'broken/far.xlsx': /^it is damaged .*17179869184 cells/,
  'broken/noise.pdf': /^it is damaged/,
  'broken/password.pdf': /^it is protected by a password$/,
};

export const OTHERS = ['debian/tree.tar.gz'];

const FOLDER = import.meta.dirname;

export function allDocuments(): readonly string[] {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) => readdirSync(join(FOLDER, name)).map((file) => `${name}/${file}`));
}

/** Those that inflate to very many bytes are checked in compressed once more. */
export function readDocumentFile(path: string): { readonly ending: string; readonly bytes: Uint8Array } {
  const bytes = readFileSync(join(FOLDER, path));
  const name = path.startsWith('broken/') ? path.replace(/\.gz$/, '') : path;
  return { ending: name.slice(name.lastIndexOf('.') + 1), bytes: name === path ? bytes : gunzipSync(bytes) };
}

/** The first text that is not there, after those before it. */
export function missingText(text: string, expected: readonly string[]): string | undefined {
  let from = 0;
  return expected.find((each) => {
    const at = text.indexOf(each, from);
    from = at + each.length;
    return at < 0;
  });
}
