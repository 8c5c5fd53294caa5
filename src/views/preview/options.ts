/** The texts of the preview in the user's language. */
export interface PreviewWords {
  /** A language tag for times and sizes. */
  readonly locale: string;
  readonly you: string;
  readonly assistant: string;
  readonly tool: string;
  readonly system: string;
  readonly reasoning: string;
  readonly copy: string;
  readonly copied: string;
  readonly image: string;
  readonly openImage: string;
  readonly close: string;
  readonly model: string;
  readonly servers: string;
  readonly writing: string;
  readonly unfinishedCall: string;
  readonly notLoaded: string;
  /** A name for the number of its kind in a result: “Image 1”. */
  generated(kind: 'image' | 'audio' | 'file', number: number): string;
  interrupted(reason: string): string;
  lines(count: number): string;
}

/** The `Uri` that VS Code passes. */
export interface PreviewedDocument {
  readonly path: string;
}

export interface PreviewOptions {
  readonly words: PreviewWords;
  /** The size of a file beside the chat, if known. */
  sizeOf?(document: PreviewedDocument, href: string): number | undefined;
  /** False when the user hides front matter. */
  showsFrontMatter?(): boolean;
}
