import { makeDocx, makeEpub, makeOdt, makePdf, makePptx, makeXlsx, zipTexts } from './documents.ts';

/** One file of each kind, and a text that only its reader finds in it. */
export async function everyDocument(): Promise<
  readonly (readonly [ending: string, Uint8Array, text: string])[]
> {
  const notebook = { cells: [{ cell_type: 'code', source: ['x = 41 + 1'], outputs: [] }] };
  const mail =
    'Subject: =?utf-8?B?QsOkcmVu?=\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\ncaf=C3=A9\r\n';
  return [
    ['pdf', makePdf('Alpha', 'Beta'), '## Page 2\n\nBeta'],
    ['docx', makeDocx('Contract', 'Between us', ['a', 'b'], ['c', 'd']), '| c | d |'],
    ['pptx', makePptx('Opening', 'Closing'), '## Slide 2\n\nClosing'],
    [
      'xlsx',
      await makeXlsx({ Sales: [['Q1', new Date(Date.UTC(2026, 0, 15))]] }),
      '## Sheet 1: Sales\n\nQ1,2026-01-15',
    ],
    ['odt', makeOdt('Letter', 'Dear all'), '# Letter\n\nDear all'],
    ['epub', makeEpub('Novel', 'It was night.'), 'It was night.'],
    ['rtf', Buffer.from('{\\rtf1\\ansi Rich {\\b text}\\par}'), 'Rich **text**'],
    ['ipynb', Buffer.from(JSON.stringify(notebook)), '```\nx = 41 + 1\n```'],
    ['eml', Buffer.from(mail), 'Subject: Bären\n\ncafé'],
    ['zip', zipTexts({ 'inner/readme.txt': 'hello' }), '- inner/readme.txt (5 bytes)'],
    ['csv', Buffer.from('a,b\n1,2\n'), 'a,b\n1,2'],
  ];
}
