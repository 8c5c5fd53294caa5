/** Details that the documents of test/documents/ do not have. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { loadReader } from '../../../../src/media/convert/documents/readers.ts';
import { renderDocument } from '../../../../src/media/convert/documentText.ts';
import type { DocumentReader } from '../../../../src/media/convert/job.ts';
import { makePdfForm } from '../../../kit/documents.ts';

async function read(
  reader: DocumentReader,
  content: string | Uint8Array | Record<string, string>,
): Promise<string> {
  const bytes =
    typeof content === 'string'
      ? strToU8(content)
      : content instanceof Uint8Array
        ? content
        : zipped(content);
  return renderDocument(await (await loadReader(reader))({ kind: 'document', bytes, reader }));
}

function zipped(files: Record<string, string>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])));
}

it('a Word document has the text of its content controls: of a paragraph, of words and of a cell', async () => {
  const words = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
  const paragraph = (inside: string) => `<w:p>${inside}</w:p>`;
  const control = (inside: string) =>
    `<w:sdt><w:sdtPr><w:alias w:val="Name"/></w:sdtPr><w:sdtEndPr/><w:sdtContent>${inside}</w:sdtContent></w:sdt>`;
  const body = [
    paragraph(words('Before')),
    control(paragraph(words('Controlled'))),
    paragraph(words('Dear') + control(words(' Ada'))),
    `<w:tbl><w:tr>${control(`<w:tc>${paragraph(words('Cell'))}</w:tc>`)}</w:tr></w:tbl>`,
  ];
  const main = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
  const text = await read('office', {
    '[Content_Types].xml': '<Types/>',
    'word/document.xml': `<w:document xmlns:w="${main}"><w:body>${body.join('')}</w:body></w:document>`,
  });
  assert.match(text, /^Before\s+Controlled\s+Dear Ada\s+\| Cell \|/);
});

it('a message in a message is listed with its subject', async () => {
  const inner = 'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\n\nHello.';
  const part = `--b\nContent-Type: message/rfc822\n\n${inner}\n`;
  const text = await read('mail', `Content-Type: multipart/mixed; boundary=b\n\n${part}--b--\n`);
  assert.match(text, /^- Grüße \(message\/rfc822, \d+ bytes\)$/m);
});

it('an OpenDocument text has its fields and the words below their pronunciation, and not what was deleted', async () => {
  const names = 'urn:oasis:names:tc:opendocument:xmlns';
  const deleted = '<text:deletion><text:p>Deleted</text:p></text:deletion>';
  const body = [
    `<text:tracked-changes><text:changed-region>${deleted}</text:changed-region></text:tracked-changes>`,
    '<text:p>Figure <text:sequence text:name="Figure">2</text:sequence>: see <text:bookmark-ref>page 7</text:bookmark-ref>.</text:p>',
    '<text:p>In <text:ruby><text:ruby-base>東京</text:ruby-base><text:ruby-text>とうきょう</text:ruby-text></text:ruby>.</text:p>',
  ];
  const text = await read('office', {
    mimetype: 'application/vnd.oasis.opendocument.text',
    'META-INF/manifest.xml': `<manifest:manifest xmlns:manifest="${names}:manifest:1.0"/>`,
    'content.xml': `<office:document-content xmlns:office="${names}:office:1.0" xmlns:text="${names}:text:1.0"><office:body><office:text>${body.join('')}</office:text></office:body></office:document-content>`,
  });
  assert.equal(text, 'Figure 2: see page 7.\n\nIn 東京.');
});

it('a slide has the text of its diagrams', async () => {
  const relation = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const [slides, drawing] = ['presentation', 'drawing'].map(
    (name) => `http://schemas.openxmlformats.org/${name}ml/2006/main`,
  );
  const relations = (...targets: readonly string[]) =>
    `<Relationships>${targets.map((target) => `<Relationship Id="rId1" Target="${target}"/>`).join('')}</Relationships>`;
  const point = (text: string) => `<dgm:pt><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`;
  const frame = `<p:graphicFrame><a:graphic><dgm:relIds r:dm="rId1"/></a:graphic></p:graphicFrame>`;
  const text = await read('office', {
    '[Content_Types].xml': '<Types/>',
    'ppt/presentation.xml': `<p:presentation xmlns:p="${slides}" xmlns:r="${relation}"><p:sldIdLst><p:sldId r:id="rId1"/></p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations('slides/slide1.xml'),
    'ppt/slides/slide1.xml': `<p:sld xmlns:p="${slides}" xmlns:a="${drawing}" xmlns:r="${relation}" xmlns:dgm="d"><p:cSld><p:spTree>${frame}</p:spTree></p:cSld></p:sld>`,
    'ppt/slides/_rels/slide1.xml.rels': relations('../diagrams/data1.xml'),
    'ppt/diagrams/data1.xml': `<dgm:dataModel>${point('Plant')}<dgm:pt><dgm:t><a:p/></dgm:t></dgm:pt>${point('Harvest')}</dgm:dataModel>`,
  });
  assert.match(text, /^## Slide 1\n+Plant\n+Harvest$/);
});

it('an RTF document has its dashes, bullets and spaces', async () => {
  const text = await read(
    'office',
    String.raw`{\rtf1\ansi 3\endash 5, so\emdash yes. \bullet a\~b c\_d hy\-phen\par}`,
  );
  assert.equal(text, '3–5, so—yes. •a\u00a0b c‑d hyphen');
});

it('a Word document has the text of its text boxes once, and moved text only in its new place', async () => {
  const words = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
  const paragraph = (inside: string) => `<w:p>${inside}</w:p>`;
  const box = `<w:txbxContent>${paragraph(words('Boxed'))}${paragraph(words('twice'))}</w:txbxContent>`;
  const shape = `<mc:AlternateContent><mc:Choice><w:drawing>${box}</w:drawing></mc:Choice><mc:Fallback><w:pict>${box}</w:pict></mc:Fallback></mc:AlternateContent>`;
  const body = [
    paragraph(`${words('Anchor')}<w:r>${shape}</w:r>`),
    paragraph(`<w:moveFrom>${words('Moved')}</w:moveFrom>`),
    paragraph(`<w:moveTo>${words('Moved')}</w:moveTo>`),
  ];
  const main = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
  const other = 'http://schemas.openxmlformats.org/markup-compatibility/2006';
  const text = await read('office', {
    '[Content_Types].xml': '<Types/>',
    'word/document.xml': `<w:document xmlns:w="${main}" xmlns:mc="${other}"><w:body>${body.join('')}</w:body></w:document>`,
  });
  assert.match(text, /^Anchor\n+Boxed\n+twice\n+Moved$/);
});

it('a PDF has what was filled into its form and written onto its pages', async () => {
  assert.equal(
    await read('pdf', makePdfForm('Ada Example')),
    '## Page 1\n\nName:\n\nApproved\n- Name: Ada Example\n- member: Yes',
  );
});

it('of the alternatives of an e-mail, the first with text is read, and the files of all are listed', async () => {
  const mail = (plain: string) =>
    [
      'Content-Type: multipart/alternative; boundary=a',
      '',
      '--a',
      'Content-Type: text/plain',
      '',
      plain,
      '--a',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/html',
      '',
      '<p>Hello <b>Ada</b></p>',
      '--b',
      'Content-Type: application/pdf; name=bill.pdf',
      'Content-Disposition: inline; filename=bill.pdf',
      '',
      '%PDF',
      '--b--',
      '--a--',
    ].join('\r\n');
  const files = 'Attachments:\n- bill.pdf (application/pdf, 4 bytes)';
  assert.equal(await read('mail', mail('Hello Ada')), `Hello Ada\n\n${files}`);
  assert.equal(await read('mail', mail(' ')), `Hello **Ada**\n\n${files}`);
});

it('the headers of an e-mail may divide a name, and a character of the subject', async () => {
  const name = "filename*1=sicht.pdf; filename*0*=utf-8''%C3%9Cber";
  const part = `--b\nContent-Type: application/pdf\nContent-Disposition: attachment; ${name}\n\n%PDF\n`;
  const subject = 'Subject: =?UTF-8?B?w5xi4g==?= =?utf-8?B?gqw=?= 5';
  const text = await read('mail', `${subject}\nContent-Type: multipart/mixed; boundary=b\n\n${part}--b--\n`);
  assert.equal(text, 'Subject: Üb€ 5\n\nAttachments:\n- Übersicht.pdf (application/pdf, 4 bytes)');
});

it('a workbook with a sheet that is only a chart is read without it', async () => {
  const relation = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const sheets = [
    '<sheet name="Chart" sheetId="1" r:id="rId1"/>',
    '<sheet name="Data" sheetId="2" r:id="rId2"/>',
  ];
  const text = await read('sheet', {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': `<Relationships><Relationship Id="rId1" Type="${relation}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${relation}"><sheets>${sheets.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="rId1" Type="${relation}/chartsheet" Target="chartsheets/sheet1.xml"/><Relationship Id="rId2" Type="${relation}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/chartsheets/sheet1.xml': `<chartsheet xmlns="${main}"/>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}"><sheetData><row r="1"><c r="A1"><v>5</v></c></row></sheetData></worksheet>`,
  });
  assert.equal(text, '## Sheet 1: Data\n\n5');
});

it('a sheet of OpenDocument has the rows that are repeated on each page, and those that can be folded', async () => {
  const names = 'urn:oasis:names:tc:opendocument:xmlns';
  const row = (text: string) =>
    `<table:table-row><table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell></table:table-row>`;
  const rows = `<table:table-header-rows>${row('Head')}</table:table-header-rows><table:table-row-group>${row('Folded')}</table:table-row-group>${row('Last')}`;
  const text = await read('sheet', {
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'META-INF/manifest.xml': `<manifest:manifest xmlns:manifest="${names}:manifest:1.0"/>`,
    'content.xml': `<office:document-content xmlns:office="${names}:office:1.0" xmlns:table="${names}:table:1.0" xmlns:text="${names}:text:1.0"><office:body><office:spreadsheet><table:table table:name="T">${rows}</table:table></office:spreadsheet></office:body></office:document-content>`,
  });
  assert.equal(text, '## Sheet 1: T\n\nHead\nFolded\nLast');
});

it('a notebook may name its language without a kernel', async () => {
  const cells = [{ cell_type: 'code', source: 'print(1)' }];
  const text = await read(
    'notebook',
    JSON.stringify({ cells, metadata: { language_info: { name: 'julia' } } }),
  );
  assert.equal(text, '```julia\nprint(1)\n```');
});

it('the folders of a ZIP are not counted as files', async () => {
  assert.equal(
    await read('zip', { 'a/': '', 'a/b.txt': 'hi' }),
    '1 file, 2 bytes uncompressed:\n- a/b.txt (2 bytes)',
  );
});
