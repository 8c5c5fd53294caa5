/** What the preview says, in the user's language. */
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
  interrupted(reason: string): string;
  lines(count: number): string;
}

/** The document as the preview of VS Code names it: a `Uri`. */
export interface PreviewedDocument {
  readonly path: string;
}

export interface PreviewOptions {
  readonly words: PreviewWords;
  /** How many bytes a file has that lies beside the chat, where that is known. */
  sizeOf?(document: PreviewedDocument, href: string): number | undefined;
  /** False where the user wants to see nothing of front matter. */
  showsFrontMatter?(): boolean;
}
