export function longChat(turns: number): string {
  const pieces = ['---\nmodel: tour\n---\n'];
  for (let at = 1; pieces.length <= turns; at += 1) pieces.push(...exchange(at));
  return pieces.slice(0, turns + 1).join('\n');
}

function exchange(at: number): readonly string[] {
  return [
    `# %% user\nPlot the **sales** of month ${at} in [sales.csv](data/sales.csv).\n`,
    `# %% assistant\n<details><summary>Reasoning</summary>\n\n\`\`\`\`reasoning\nI think ${at}.\n\`\`\`\`\n\n</details>\n\n## Month ${at}\n\nI'll draw it.\n\n\`\`\`tool_call charts.bar c${at}\n{"title": "Sales", "values": [3, 5, ${at}]}\n\`\`\`\n`,
    `# %% tool charts.bar c${at}\nHere is the chart:\n\n![Tool generated image 1](cmdassets/tool-image-20261116-093012-V1StGXR8-1.png)\n\n${'A line of the result that says something.\n'.repeat(20)}`,
    `# %% assistant\n${'The last quarter is the best one, and here is a paragraph about it.\n\n'.repeat(5)}`,
  ];
}
