import type { ASTNode, Diagnostic, LanguageService, ObjectASTNode } from 'vscode-json-languageservice';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { BUDGET } from '../../base/budget.ts';
import { defined, field, parseJson } from '../../base/json.ts';
import type { TextEdit } from '../../ports/document.ts';
import { exampleFor } from '../schema/example.ts';
import { meterSchema } from '../schema/schemaLimits.ts';
import { type Keywords, type PathStep, printJson, SchemaWalk } from '../schema/walk.ts';
import { choicesOf, copySafeKeywords, schemaAt } from './schema.ts';

/** A problem in the arguments of a call. Offsets are relative to the arguments. */
export interface ArgumentProblem {
  readonly start: number;
  readonly end: number;
  readonly kind: 'missing' | 'unknown' | 'choice' | 'type' | 'syntax' | 'other';
  /** The name of the argument, or the expected type. */
  readonly subject: string;
  readonly message: string;
}

/** A completion; `snippet` replaces the text from `start` to `end`. */
export interface ArgumentItem {
  readonly label: string;
  readonly kind: 'property' | 'value';
  readonly snippet: string;
  readonly start: number;
  readonly end: number;
  readonly filterText?: string;
  readonly sortText?: string;
  readonly documentation?: string;
}

/** Longer arguments are not checked. Each wrong character of them could be a problem. */
const MAX_CHARS = 50_000;
const MAX_PROBLEMS = 50;
const MAX_ITEMS = 500;

/** Validation and completion for the arguments of one tool. Never uses the network, and never reads more than its budget of the schema. */
export class ArgumentHelp {
  readonly schema: Keywords;
  readonly #service: LanguageService;
  readonly #document: (text: string) => TextDocument;
  readonly #steps = { left: BUDGET.validatorSteps };

  private constructor(schema: Keywords, service: LanguageService, documents: typeof TextDocument) {
    this.schema = schema;
    this.#service = service;
    this.#document = (text) => documents.create('file:///arguments.json', 'json', 1, text);
    const metered = meterSchema(structuredClone(schema), this.#steps);
    service.configure({
      validate: true,
      allowComments: false,
      schemas: [{ uri: 'filechat:///tool', fileMatch: ['*'], schema: metered }],
    });
  }

  /** Resolves to undefined for an unsafe schema. */
  static async create(schema: unknown): Promise<ArgumentHelp | undefined> {
    const kept = copySafeKeywords(schema);
    if (!kept) return undefined;
    const { getLanguageService } = await import('vscode-json-languageservice');
    const { TextDocument } = await import('vscode-languageserver-textdocument');
    // Without a schema request service it never loads a schema, whatever `$ref` or `$schema` refer to.
    return new ArgumentHelp(kept, getLanguageService({}), TextDocument);
  }

  async check(text: string): Promise<readonly ArgumentProblem[]> {
    if (text.length > MAX_CHARS) return [];
    const isEmpty = text.trim() === '';
    const document = this.#document(isEmpty ? '{}' : text);
    const isJson = parseJson(document.getText()) !== undefined;
    const found = await this.#guarded<Diagnostic[]>([], () =>
      this.#service.doValidation(document, this.#service.parseJSONDocument(document), {
        // Incomplete JSON would report arguments as missing that follow the syntax error.
        schemaValidation: isJson ? 'warning' : 'ignore',
        schemaRequest: 'ignore',
      }),
    );
    const problems: ArgumentProblem[] = [];
    for (const each of found) {
      if (problems.length >= MAX_PROBLEMS) break;
      const [start, end] = [document.offsetAt(each.range.start), document.offsetAt(each.range.end)];
      if (isJson && isReference(text, start, end)) continue;
      const range = isEmpty ? { start: 0, end: 0 } : { start, end };
      problems.push({ ...range, ...classify(each, isJson) });
    }
    return problems;
  }

  async complete(text: string, offset: number): Promise<readonly ArgumentItem[]> {
    if (text.length > MAX_CHARS) return [];
    const document = this.#document(text);
    const list = await this.#guarded(null, () =>
      this.#service.doComplete(
        document,
        document.positionAt(offset),
        this.#service.parseJSONDocument(document),
      ),
    );
    return (list?.items ?? []).slice(0, MAX_ITEMS).flatMap((item) => {
      const { textEdit } = item;
      if (!textEdit || !('range' in textEdit)) return [];
      return [
        {
          label: item.label,
          kind: item.kind === PROPERTY ? ('property' as const) : ('value' as const),
          snippet: textEdit.newText,
          start: document.offsetAt(textEdit.range.start),
          end: document.offsetAt(textEdit.range.end),
          ...defined({
            filterText: item.filterText,
            sortText: item.sortText,
            documentation: documentationOf(item.documentation),
          }),
        },
      ];
    });
  }

  /** The value at an offset; at the name of an argument, its value. */
  at(text: string, offset: number) {
    const found = this.nodeAt(text, offset);
    const property = found?.type === 'property' ? found : found?.parent;
    const isName = property?.type === 'property' && property.keyNode === found;
    const node = isName ? (property.valueNode ?? property) : found;
    if (!node) return undefined;
    const steps = stepsTo(node);
    const walk = new SchemaWalk(this.schema);
    const keywords = schemaAt(walk, steps);
    return { steps, node, keywords, choices: choicesOf(keywords, walk), walk };
  }

  nodeAt(text: string, offset: number): ASTNode | undefined {
    if (text.length > MAX_CHARS) return undefined;
    try {
      return this.#service.parseJSONDocument(this.#document(text)).getNodeFromOffset(offset, true);
    } catch {
      // Nested too deeply for the stack.
      return undefined;
    }
  }

  async #guarded<T>(fallback: T, work: () => PromiseLike<T>): Promise<T> {
    this.#steps.left = BUDGET.validatorSteps;
    try {
      return await work();
    } catch {
      // Too many steps, or nested too deeply for the stack: the server validates the arguments.
      return fallback;
    }
  }
}

/**
 * `asset:` and `file:` references are replaced before the call, so the schema does not apply to them. Only the text is
 * looked at: there may be as many problems as values, and finding a node takes as long as reading all of them.
 */
function isReference(text: string, start: number, end: number): boolean {
  return (
    /^"(?:asset|file):[^"]/.test(text.slice(start, start + 8)) && !/^\s*:/.test(text.slice(end, end + 100))
  );
}

/** `CompletionItemKind.Property`. */
const PROPERTY = 10;

/** The path of a node, outermost step first. */
function stepsTo(node: ASTNode): readonly PathStep[] {
  const steps: PathStep[] = [];
  for (let at: ASTNode | undefined = node; at; at = at.parent) {
    if (at.type === 'property') steps.unshift(at.keyNode.value);
    else if (at.parent?.type === 'array') steps.unshift(at.parent.items.indexOf(at));
  }
  return steps;
}

/** `ErrorCode.EnumValueMismatch`. */
const CHOICE = 1;

/** Classifies the English messages of the service, so that they can be translated. */
function classify(
  { message: original, code }: Diagnostic,
  isJson: boolean,
): Omit<ArgumentProblem, 'start' | 'end'> {
  const message = typeof original === 'string' ? original : original.value;
  if (!isJson) return { kind: 'syntax', subject: '', message };
  if (code === CHOICE) return { kind: 'choice', subject: '', message };
  for (const { kind, pattern } of KINDS) {
    const subject = pattern.exec(message)?.[1];
    if (subject !== undefined) return { kind, subject, message };
  }
  return { kind: 'other', subject: '', message };
}

const KINDS = [
  { kind: 'missing', pattern: /^Missing property "(.*)"\.$/s },
  { kind: 'unknown', pattern: /^Property (.*) is not allowed\.$/s },
  { kind: 'type', pattern: /^Incorrect type\. Expected (?:one of )?"?(.*?)"?\.$/s },
] as const;

function documentationOf(documentation: unknown): string | undefined {
  const value = field(documentation, 'value') ?? documentation;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A quick fix. The offsets of `edit` are relative to the arguments. */
export interface ArgumentFix {
  readonly kind: 'add' | 'remove' | 'replace';
  /** The arguments to add, the one to remove, or the value to write. */
  readonly subjects: readonly string[];
  readonly edit: TextEdit;
}

const MAX_CHOICES = 10;

/** The quick fixes for a problem. Missing arguments of the same object (in `all`) are added together. */
export function fixesFor(
  help: ArgumentHelp,
  text: string,
  problem: ArgumentProblem,
  all: readonly ArgumentProblem[],
): readonly ArgumentFix[] {
  switch (problem.kind) {
    case 'missing': {
      const same = all.filter(({ kind, start }) => kind === 'missing' && start === problem.start);
      return addMissing(
        help,
        text,
        problem.start,
        same.map(({ subject }) => subject),
      );
    }
    case 'unknown':
      return remove(help, text, problem);
    case 'choice':
      return replace(help, text, problem);
    default:
      return [];
  }
}

function addMissing(
  help: ArgumentHelp,
  text: string,
  offset: number,
  names: readonly string[],
): readonly ArgumentFix[] {
  const isEmpty = text.trim() === '';
  // For a nested object the problem is at its name.
  const node = isEmpty ? undefined : help.at(text, offset)?.node;
  if (!isEmpty && node?.type !== 'object') return [];
  const walk = new SchemaWalk(help.schema);
  const { properties } = schemaAt(walk, node ? stepsTo(node) : []);
  const members = names.map((name) => {
    const schema = field(properties, name);
    return `${JSON.stringify(name)}: ${walk.print(exampleFor(schema, walk)) ?? 'null'}`;
  });
  const edit: TextEdit =
    node?.type === 'object'
      ? addMembers(text, node, members)
      : { start: 0, end: text.length, text: `{${members.join(', ')}}\n` };
  return [{ kind: 'add', subjects: names, edit }];
}

/** After the last member, on separate lines if the other members are. */
function addMembers(
  text: string,
  { offset, properties }: ObjectASTNode,
  members: readonly string[],
): TextEdit {
  const last = properties.at(-1);
  if (!last) return { start: offset + 1, end: offset + 1, text: members.join(', ') };
  const indent = /\n[ \t]*$/.exec(text.slice(0, last.offset))?.[0];
  const gap = indent === undefined ? ', ' : `,${indent}`;
  const end = last.offset + last.length;
  return { start: end, end, text: members.map((member) => `${gap}${member}`).join('') };
}

function remove(
  help: ArgumentHelp,
  text: string,
  { start, subject }: ArgumentProblem,
): readonly ArgumentFix[] {
  const property = help.nodeAt(text, start + 1)?.parent;
  const object = property?.parent;
  if (property?.type !== 'property' || object?.type !== 'object') return [];
  const at = object.properties.indexOf(property);
  const before = object.properties[at - 1];
  const after = object.properties[at + 1];
  const end = property.offset + property.length;
  // Includes the comma before or after it.
  const range = before
    ? { start: before.offset + before.length, end }
    : { start: property.offset, end: after?.offset ?? end };
  return [{ kind: 'remove', subjects: [subject], edit: { ...range, text: '' } }];
}

function replace(help: ArgumentHelp, text: string, { start }: ArgumentProblem): readonly ArgumentFix[] {
  const found = help.at(text, start);
  const node: ASTNode | undefined = found?.node;
  if (!found || !node) return [];
  return found.choices.slice(0, MAX_CHOICES).flatMap((choice) => {
    const json = printJson(choice);
    if (json === undefined) return [];
    const edit = { start: node.offset, end: node.offset + node.length, text: json };
    return [{ kind: 'replace' as const, subjects: [json], edit }];
  });
}
