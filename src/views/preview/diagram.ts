/** As VS Code's own extension writes a diagram, which its script draws in the page. */
const DRAWN =
  /^<pre class="mermaid"(?: style="all: unset;")?(?: data-vscode-mermaid-source="[^"<>]*")?>[^<]*<\/pre>$/;

/** Whether an extension's markup for code is a diagram that loads nothing when it is drawn. */
export function isInertDiagram(html: string, source: string): boolean {
  return DRAWN.test(html) && loadsNothing(source);
}

/** Other kinds have icons, images or comments in Markdown. */
const KIND =
  /^\s*(?:%%[^\n]*\n\s*)*(?:graph|flowchart|(?:sequence|class|state|er|requirement)Diagram|gantt|pie|mindmap|timeline|gitGraph|journey|quadrantChart|xychart|sankey)\b/;
const MAX_CHARS = 20_000;

/** Options, shapes, and properties of participants can name images and style sheets. An escape can hide a word. */
const LOADING =
  /@\s*\{|%%\s*\{|^[ \t]*---|\b(?:properties|details)\b[^\n:]*:|\\|\/\/|url\s*\(|image-set|@import/im;
/** Labels are HTML. */
const TAG = /<(?!br\s*\/?>)[a-z!/?]|&#?\w+;/i;
/** `<<interface>>` in a class diagram. */
const STEREOTYPE = /<<(?!style|script|svg|math)\w+>>/gi;

/** Mermaid loads remote addresses from its source, so only source that can contain none is drawn. */
function loadsNothing(source: string): boolean {
  if (source.length > MAX_CHARS || !KIND.test(source) || LOADING.test(source)) return false;
  return !TAG.test(source.replace(STEREOTYPE, '""'));
}
