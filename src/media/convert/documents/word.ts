/** Changes the XML of a Word document where the library would read it wrong. */
export function readableWord(xml: string): string {
  return liftTextBoxes(withoutControls(writeOutMarks(withoutMoved(xml))));
}

/** Word has elements for tabs, line breaks and hyphens, which the library drops. Tab stops have attributes. */
function writeOutMarks(xml: string): string {
  return xml.replace(
    /<w:(?:(tab|cr|noBreakHyphen)|br(?: w:type="textWrapping")?(?: w:clear="\w+")?)\s*\/>/g,
    (_, name) => {
      const text = name === 'tab' ? '\t' : name === 'noBreakHyphen' ? '-' : '\n';
      return `<w:t xml:space="preserve">${text}</w:t>`;
    },
  );
}

/** Word puts fields of forms and title pages into content controls, which the library skips with all they contain. */
function withoutControls(xml: string): string {
  return xml.replace(/<w:(sdtPr|sdtEndPr)\b(?:[^>]*\/>|[\s\S]*?<\/w:\1>)|<\/?w:sdt(?:Content)?\b[^>]*>/g, '');
}

/** A text that was moved while changes are tracked is in both places. */
function withoutMoved(xml: string): string {
  return xml.includes('<w:moveFrom') ? mapElements(xml, 'w:moveFrom', () => '') : xml;
}

/** The library does not look into runs, where text boxes are. Their text follows the paragraph that they belong to. */
function liftTextBoxes(xml: string): string {
  if (!xml.includes('<w:txbxContent')) return xml;
  // Older programs get the same text box in another form.
  const once = mapElements(xml, 'mc:Fallback', (each) => (each.includes('<w:txbxContent') ? '' : each));
  return mapElements(once, 'w:p', (paragraph) => {
    const boxes: string[] = [];
    const own = mapElements(paragraph, 'w:txbxContent', (box) => {
      boxes.push(liftTextBoxes(box.slice(box.indexOf('>') + 1, box.lastIndexOf('<'))));
      return '';
    });
    return own + boxes.join('');
  });
}

/** Replaces the outermost elements of a name. Those that are never closed stay. */
function mapElements(xml: string, name: string, change: (element: string) => string): string {
  const tags = xml.matchAll(new RegExp(`<(/?)${name}(?=[\\s/>])[^>]*?(/?)>`, 'g'));
  const pieces: string[] = [];
  let [depth, start, from] = [0, 0, 0];
  for (const { 0: tag, 1: isEnd, 2: isEmpty, index } of tags) {
    if (isEmpty) continue;
    if (!isEnd) {
      if (depth === 0) start = index;
      depth += 1;
    } else if (depth > 0) {
      depth -= 1;
      if (depth > 0) continue;
      const end = index + tag.length;
      pieces.push(xml.slice(from, start), change(xml.slice(start, end)));
      from = end;
    }
  }
  return pieces.join('') + xml.slice(from);
}
