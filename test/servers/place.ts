import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { installBrowser } from '../host/workbench/browser.ts';
import { type Cleanup, temporaryFolder } from '../kit/folder.ts';
import { PNG } from '../kit/png.ts';

/** What the servers work with. */
export interface Place {
  readonly folder: string;
  /** Files for servers that read and write files; they run in it. */
  readonly files: string;
  /** A page on loopback for browsers. */
  readonly page: string;
  readonly chromium: string;
  /** The same browser where Playwright expects its own, for servers that cannot be told. */
  readonly browsers: string;
}

export async function createPlace(cleanup: Cleanup): Promise<Place> {
  const folder = temporaryFolder(cleanup);
  const files = join(folder, 'files');
  mkdirSync(files);
  writeFileSync(join(files, 'notes.txt'), 'One\r\nTwo\r\n\r\n# %% user\n```\nÜber 🎉\n');
  writeFileSync(join(files, 'long.txt'), 'A line that is repeated.\n'.repeat(2000));
  writeFileSync(join(files, 'image.png'), PNG);
  writeFileSync(
    join(files, 'sound.wav'),
    Buffer.from('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0', 'latin1'),
  );
  writeFileSync(join(files, 'data.bin'), Buffer.from(Array.from({ length: 256 }, (_, at) => at)));
  writeFileSync(join(files, 'page.pdf'), PDF);
  writeFileSync(join(files, 'book.xlsx'), zipSync(mapText(BOOK)));
  const chromium = await installBrowser();
  const browsers = join(folder, 'browsers');
  const shell = join(browsers, 'chromium_headless_shell-1255', 'chrome-headless-shell-linux64');
  mkdirSync(shell, { recursive: true });
  symlinkSync(chromium, join(shell, 'chrome-headless-shell'));
  return { folder, files, page: await servePage(cleanup), chromium, browsers };
}

function mapText(files: Readonly<Record<string, string>>): Record<string, Uint8Array> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]));
}

const OFFICE = 'http://schemas.openxmlformats.org';
const relation = (id: string, type: string, target: string) =>
  `<Relationships xmlns="${OFFICE}/package/2006/relationships"><Relationship Id="${id}" Type="${OFFICE}/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`;
const SHEET_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The smallest workbook. */
const BOOK: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `<Types xmlns="${OFFICE}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${SHEET_TYPE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${SHEET_TYPE}.worksheet+xml"/></Types>`,
  '_rels/.rels': relation('r1', 'officeDocument', 'xl/workbook.xml'),
  'xl/_rels/workbook.xml.rels': relation('r1', 'worksheet', 'worksheets/sheet1.xml'),
  'xl/workbook.xml': `<workbook xmlns="${OFFICE}/spreadsheetml/2006/main" xmlns:r="${OFFICE}/officeDocument/2006/relationships"><sheets><sheet name="First" sheetId="1" r:id="r1"/></sheets></workbook>`,
  'xl/worksheets/sheet1.xml': `<worksheet xmlns="${OFFICE}/spreadsheetml/2006/main"><sheetData/></worksheet>`,
};

const PAGE =
  '<!doctype html><title>A page</title><h1>Hello</h1><input id="name" aria-label="Name"><button onclick="document.title=\'Done\'">Press</button>';

async function servePage(cleanup: Cleanup): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanup.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
}

const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 44>>stream
BT /F1 18 Tf 20 50 Td (Hello from a PDF) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
`;
