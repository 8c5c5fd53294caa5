export interface PdfOptions {
  readonly title: string;
  /** PDF drawing operators for the page; the font is /F1 (Helvetica) or /F2 (bold). */
  readonly drawing: string;
}

/** A4, in points of 1/72 inch. */
const PAGE_SIZE = [595, 842];
const HEADER = '%PDF-1.4\n%\u00e2\u00e3\u00cf\u00d3\n';

/** A PDF of one page. Its text is limited to Latin-1, so that one character is one byte. */
export function encodePdf({ title, drawing }: PdfOptions): Uint8Array {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE_SIZE.join(' ')}] /Contents 4 0 R ` +
      '/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>',
    `<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>',
    `<< /Title ${quotePdf(title)} /Producer (Filechat sample server) >>`,
  ];
  return Buffer.from(layOut(objects), 'latin1');
}

export function quotePdf(text: string): string {
  return `(${text.replace(/[\\()]/g, '\\$&')})`;
}

/** Readers jump to an object through the table at the end, so its offsets must be right to the byte. */
function layOut(objects: readonly string[]): string {
  let file = HEADER;
  const offsets: number[] = [];
  for (const [i, object] of objects.entries()) {
    offsets.push(file.length);
    file += `${i + 1} 0 obj\n${object}\nendobj\n`;
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`);
  const count = objects.length + 1;
  return (
    `${file}xref\n0 ${count}\n0000000000 65535 f \n${rows.join('')}` +
    `trailer\n<< /Size ${count} /Root 1 0 R /Info ${objects.length} 0 R >>\n` +
    `startxref\n${file.length}\n%%EOF\n`
  );
}
