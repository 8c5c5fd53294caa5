/** Changes the XML of an OpenDocument file where the library would read it wrong. */
export function readableOpenDocument(xml: string): string {
  return (
    xml
      // It skips the rows of a table that are repeated on each page.
      .replace(/<\/?table:table-header-rows\b[^>]*>/g, '')
      // It takes text that was deleted while changes are tracked for the beginning of the document.
      .replace(/<text:(tracked-changes|ruby-text)\b[\s\S]*?<\/text:\1>/g, '')
      // It skips fields with their text.
      .replace(FIELD_TAG, '')
  );
}

/** The number of a figure, a reference to a chapter, a date, what was filled in, the words below their pronunciation. */
const FIELD_TAG = new RegExp(
  `</?(?:text:(?:${[
    'sequence',
    '(?:bookmark|reference|sequence|note)-ref',
    '(?:(?:creation|modification|print)-)?(?:date|time)',
    'page-(?:number|count|variable-get)',
    '(?:user-)?(?:field|variable)-(?:get|set|input)',
    'text-input|user-defined|expression|placeholder|conditional-text|drop-down|database-display',
    'title|subject|keywords|description|chapter|file-name|creator|author-(?:name|initials)|sender-[a-z-]+',
    'ruby|ruby-base|meta|meta-field|bibliography-mark|content-control',
  ].join('|')})|loext:content-control)(?=[\\s/>])[^>]*>`,
  'g',
);
