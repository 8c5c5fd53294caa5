import type { ASTNode, ObjectASTNode } from 'vscode-json-languageservice';
import { field } from '../../base/json.ts';
import type { TextEdit } from '../../ports/document.ts';
import { exampleFor, printJson } from '../schema/example.ts';
import { type ArgumentHelp, type ArgumentProblem, stepsTo } from './help.ts';
import { schemaAt } from './schema.ts';

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
      const names = same.map(({ subject }) => subject);
      return addMissing(help, text, problem.start, names);
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
  const steps = node ? stepsTo(node) : [];
  const members = names.map((name) => {
    const schema = field(schemaAt(help.schema, steps)['properties'], name);
    return `${JSON.stringify(name)}: ${printJson(exampleFor(schema, help.schema)) ?? 'null'}`;
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
