/** How many pages a PDF says it has, as far as its plain parts tell; many keep that packed. */
export function countPdfPages(text: string): number | undefined {
  const linear = /\/Linearized\b[^>]{0,200}?\/N (\d{1,6})\b/.exec(text.slice(0, 2048));
  if (linear) return positive(linear[1]);
  // The root of the tree of pages counts all of them, its branches fewer.
  const counts = [...text.matchAll(/\/Type\s*\/Pages\b[^>]{0,2000}?\/Count (\d{1,6})\b/g)];
  const reversed = [...text.matchAll(/\/Count (\d{1,6})\b[^>]{0,2000}?\/Type\s*\/Pages\b/g)];
  return positive([...counts, ...reversed].reduce((most, [, count]) => Math.max(most, Number(count)), 0));
}

function positive(value: number | string | undefined): number | undefined {
  const number = Number(value);
  return number > 0 ? number : undefined;
}
