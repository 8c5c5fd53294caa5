import { strToU8, type Zippable, zipSync } from 'fflate';
import { writeXlsx } from 'hucre/xlsx';
import { encodePng } from '../../samples/server/encode/png.ts';

/** Small documents as their programs write them, with only the parts that readers need. */

const RELATION = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const SLIDES = 'http://schemas.openxmlformats.org/presentationml/2006/main';
const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006/main';

/** The first paragraph is a heading; a list of strings is a row of a table. */
export function makeDocx(title: string, ...body: readonly (string | readonly string[])[]): Uint8Array {
  const rows = body.filter((each) => typeof each !== 'string');
  const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`;
  const table = rows.map((cells) => `<w:tr>${cells.map(cell).join('')}</w:tr>`).join('');
  const texts = body.filter((each) => typeof each === 'string').map((text) => paragraph(text));
  return zipTexts({
    '[Content_Types].xml': contentTypes(
      '/word/document.xml',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml',
    ),
    '_rels/.rels': relations({ rId1: ['officeDocument', 'word/document.xml'] }),
    'word/document.xml': `<w:document xmlns:w="${WORD}"><w:body>${paragraph(title, 'Heading1')}${texts.join('')}${table === '' ? '' : `<w:tbl>${table}</w:tbl>`}</w:body></w:document>`,
  });
}

function paragraph(text: string, style?: string): string {
  const look = style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`;
  return `<w:p>${look}<w:r><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r></w:p>`;
}

export function makePptx(...slides: readonly string[]): Uint8Array {
  const files: Record<string, string> = {
    '[Content_Types].xml': contentTypes(
      '/ppt/presentation.xml',
      'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
    ),
    '_rels/.rels': relations({ rId1: ['officeDocument', 'ppt/presentation.xml'] }),
    'ppt/presentation.xml': `<p:presentation xmlns:p="${SLIDES}" xmlns:r="${RELATION}"><p:sldIdLst>${slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="rId${at + 1}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(
      Object.fromEntries(slides.map((_, at) => [`rId${at + 1}`, ['slide', `slides/slide${at + 1}.xml`]])),
    ),
  };
  for (const [at, text] of slides.entries()) {
    files[`ppt/slides/slide${at + 1}.xml`] =
      `<p:sld xmlns:p="${SLIDES}" xmlns:a="${DRAWING}"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>${escapeXml(text)}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`;
  }
  return zipTexts(files);
}

export function makeOdt(title: string, ...paragraphs: readonly string[]): Uint8Array {
  const names = 'urn:oasis:names:tc:opendocument:xmlns';
  const texts = paragraphs.map((text) => `<text:p>${escapeXml(text)}</text:p>`).join('');
  return zipTexts({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'META-INF/manifest.xml': `<manifest:manifest xmlns:manifest="${names}:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`,
    'content.xml': `<office:document-content xmlns:office="${names}:office:1.0" xmlns:text="${names}:text:1.0"><office:body><office:text><text:h text:outline-level="1">${escapeXml(title)}</text:h>${texts}</office:text></office:body></office:document-content>`,
  });
}

export function makeEpub(title: string, ...chapters: readonly string[]): Uint8Array {
  const files: Record<string, string> = {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml':
      '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    'OEBPS/content.opf': `<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${escapeXml(title)}</dc:title></metadata><manifest>${chapters.map((_, at) => `<item id="c${at}" href="c${at}.xhtml" media-type="application/xhtml+xml"/>`).join('')}</manifest><spine>${chapters.map((_, at) => `<itemref idref="c${at}"/>`).join('')}</spine></package>`,
  };
  for (const [at, text] of chapters.entries()) {
    files[`OEBPS/c${at}.xhtml`] =
      `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>${at}</title></head><body><h1>Chapter ${at + 1}</h1><p>${escapeXml(text)}</p></body></html>`;
  }
  return zipTexts(files);
}

export function makeXlsx(
  sheets: Readonly<Record<string, readonly (readonly (string | number | Date)[])[]>>,
): Promise<Uint8Array> {
  return writeXlsx({
    sheets: Object.entries(sheets).map(([name, rows]) => ({ name, rows: rows.map((row) => [...row]) })),
  });
}

/** One line of text on each page. */
export function makePdf(...pages: readonly string[]): Uint8Array {
  const drawing = (text: string) => `BT /F1 24 Tf 72 700 Td (${text.replace(/[\\()]/g, '\\$&')}) Tj ET`;
  const kids = pages.map((_, at) => `${4 + 2 * at} 0 R`).join(' ');
  return layOutPdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((text, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${5 + 2 * at} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      `<< /Length ${drawing(text).length} >>\nstream\n${drawing(text)}\nendstream`,
    ]),
  ]);
}

/** A page with “Name:”, a field of text, two check boxes, of which the first is checked, and a text on the page. */
export function makePdfForm(name: string): Uint8Array {
  const drawing = 'BT /F1 24 Tf 72 700 Td (Name:) Tj ET';
  const widget = '/Type /Annot /Subtype /Widget /Rect [0 0 9 9] /P 4 0 R';
  const states = '/AP << /N << /Yes << >> /Off << >> >> >>';
  return layOutPdf([
    '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R 8 0 R] >> >>',
    '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> /Annots [6 0 R 7 0 R 8 0 R 9 0 R] >>',
    `<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`,
    `<< ${widget} /FT /Tx /T (person.name) /TU (Name) /V (${name}) >>`,
    `<< ${widget} /FT /Btn /T (member) /V /Yes /AS /Yes ${states} >>`,
    `<< ${widget} /FT /Btn /T (guest) /V /Off /AS /Off ${states} >>`,
    '<< /Type /Annot /Subtype /FreeText /Rect [0 0 9 9] /Contents (Approved) >>',
  ]);
}

function layOutPdf(objects: readonly string[]): Uint8Array {
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  return Buffer.from(
    `${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`,
    'latin1',
  );
}

/** Each form draws the next one twice. */
export function makeSlowPdf(): Uint8Array {
  const forms = Array.from({ length: 28 }, (_, at) => {
    const isLast = at === 27;
    const drawing = isLast ? 'BT /F1 9 Tf (x) Tj ET' : '/X Do /X Do';
    const uses = isLast ? '' : `/XObject << /X ${6 + at} 0 R >>`;
    return `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << ${uses} /Font << /F1 3 0 R >> >> /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`;
  });
  return layOutPdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 33 0 R /Resources << /XObject << /X 5 0 R >> >> >>',
    ...forms,
    '<< /Length 5 >>\nstream\n/X Do\nendstream',
  ]);
}

export function makeEncryptedPdf(): Uint8Array {
  const key = '00'.repeat(32);
  const plain = Buffer.from(
    layOutPdf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [] /Count 0 >>',
      `<< /Filter /Standard /V 1 /R 2 /O <${key}> /U <${key}> /P -4 >>`,
    ]),
  ).toString('latin1');
  return Buffer.from(
    plain.replace('/Root 1 0 R', `/Root 1 0 R /Encrypt 3 0 R /ID [<${key}> <${key}>]`),
    'latin1',
  );
}

/** White, or with noise that cannot be compressed. The first rows can be transparent, and black below. */
export function makePng(width: number, height: number, isNoise = false, transparentRows = 0): Uint8Array {
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  if (isNoise)
    for (let at = 0, seed = 1; at < pixels.length; at += 1) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      pixels[at] = at % 4 === 3 ? 255 : seed >>> 24;
    }
  pixels.fill(0, 0, 4 * width * transparentRows);
  return encodePng({ width, height, pixels });
}

/** Uncompressed, 24 bits, from the bottom up. */
export function makeBmp(width: number, height: number): Uint8Array {
  const row = Math.ceil((3 * width) / 4) * 4;
  const bytes = Buffer.alloc(54 + row * height, 0x80);
  bytes.fill(0, 0, 54);
  bytes.write('BM');
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  return bytes;
}

/** A JPEG with this EXIF orientation. */
export function withOrientation(jpeg: Uint8Array, orientation: number): Uint8Array {
  const tiff = Buffer.from('4d4d002a000000080001011200030000000100000000' + '00000000', 'hex');
  tiff.writeUInt16BE(orientation, 18);
  const body = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const head = Buffer.from([0xff, 0xe1, 0, body.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), head, body, jpeg.subarray(2)]);
}

export function zipTexts(files: Readonly<Record<string, string>>): Uint8Array {
  const zippable: Zippable = {};
  for (const [name, text] of Object.entries(files)) zippable[name] = strToU8(text);
  return zipSync(zippable, { level: 6 });
}

/** Says of its only file that it inflates to 120 MB. */
export function makeZipBomb(): Uint8Array {
  const bytes = Buffer.from(zipTexts({ 'word/document.xml': ' '.repeat(9000) }));
  // Where the uncompressed size is in the header of the file, and in the entry of the directory.
  for (const [signature, at] of [
    ['PK\x03\x04', 22],
    ['PK\x01\x02', 24],
  ] as const)
    bytes.writeUInt32LE(120_000_000, bytes.indexOf(signature, 0, 'latin1') + at);
  return bytes;
}

function contentTypes(part: string, type: string): string {
  return `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="${part}" ContentType="${type}"/></Types>`;
}

function relations(
  all: Readonly<Record<string, readonly [type: string, target: string] | string[]>>,
): string {
  const items = Object.entries(all).map(
    ([id, [type, target]]) => `<Relationship Id="${id}" Type="${RELATION}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${PACKAGE}/relationships">${items.join('')}</Relationships>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
