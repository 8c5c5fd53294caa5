import { encodePdf, quotePdf } from './encode/pdf.ts';

const QUARTERS: readonly (readonly [name: string, sales: number])[] = [
  ['Q1', 42],
  ['Q2', 58],
  ['Q3', 51],
  ['Q4', 77],
];
const CHART = { left: 90, bottom: 470, pointsPerSale: 2.2, barWidth: 64, barRoom: 104 };

/** One page with text and a bar chart, drawn with PDF's own operators. */
export function writeReport(): Uint8Array {
  const total = QUARTERS.reduce((sum, [, sales]) => sum + sales, 0);
  const drawing = [
    '0.14 0.16 0.18 rg',
    writeText('F2', 26, [72, 750], 'Quarterly report'),
    writeText('F1', 12, [72, 722], 'Drawn by the Filechat sample server, to show how a PDF reaches a chat.'),
    drawBars(),
    '0.14 0.16 0.18 rg',
    writeText('F1', 12, [72, 420], `Sales of the year: ${total}. The fourth quarter (77) was the best one.`),
    writeText('F1', 12, [72, 402], 'Every number on this page is invented.'),
  ];
  return encodePdf({ title: 'Quarterly report', drawing: drawing.join('\n') });
}

function drawBars(): string {
  const { left, bottom, pointsPerSale, barWidth, barRoom } = CHART;
  const bars = QUARTERS.map(([name, sales], i) => {
    const x = left + i * barRoom;
    const height = Math.round(sales * pointsPerSale);
    return [
      '0.18 0.44 0.87 rg',
      `${x} ${bottom} ${barWidth} ${height} re f`,
      '0.14 0.16 0.18 rg',
      writeText('F1', 12, [x + 24, bottom - 18], name),
      writeText('F1', 12, [x + 25, bottom + height + 6], String(sales)),
    ].join('\n');
  });
  const axis = `0.43 0.47 0.51 RG 1 w 72 ${bottom} m 500 ${bottom} l S`;
  return [...bars, axis].join('\n');
}

function writeText(
  font: 'F1' | 'F2',
  points: number,
  at: readonly [x: number, y: number],
  text: string,
): string {
  return `BT /${font} ${points} Tf ${at.join(' ')} Td ${quotePdf(text)} Tj ET`;
}
