import { pathToFileURL } from 'node:url';
import type { FileForm, FormField, StringForm } from './form.ts';

/** A file as it is given to a tool. */
export interface ReadFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly mimeType: string;
  /** Empty where only the path is asked for. */
  readonly base64: string;
}

/** Whether the bytes themselves go to the tool, or only the way to them. */
export function needsBytes(form: FileForm): boolean {
  switch (form.kind) {
    case 'list':
      return needsBytes(form.of);
    case 'object':
      return form.fields.some(({ value }) => carriesBytes(value.kind));
    default:
      return carriesBytes(form.kind);
  }
}

export function fileValue(form: FileForm, file: ReadFile): unknown {
  switch (form.kind) {
    case 'list':
      return [fileValue(form.of, file)];
    case 'object':
      return Object.fromEntries(form.fields.map(({ name, value }) => [name, fieldValue(value, file)]));
    default:
      return stringValue(form.kind, file);
  }
}

const FORM_NAMES: Readonly<Record<StringForm['kind'], string>> = {
  base64: 'base64',
  base64url: 'base64url',
  dataUrl: 'a data: URL',
  path: 'the path',
  fileUrl: 'the file: URL',
};

/** What a form is, for a person who decides about it. */
export function describeForm(form: FileForm): string {
  switch (form.kind) {
    case 'list':
      return `a list with ${describeForm(form.of)}`;
    case 'object':
      return `an object (${form.fields.map(({ name }) => name).join(', ')}) with ${needsBytes(form) ? 'the bytes' : 'the path'}`;
    default:
      return FORM_NAMES[form.kind];
  }
}

function carriesBytes(kind: FormField['value']['kind']): boolean {
  return kind === 'base64' || kind === 'base64url' || kind === 'dataUrl';
}

function fieldValue(value: FormField['value'], file: ReadFile): unknown {
  switch (value.kind) {
    case 'name':
      return file.name;
    case 'mimeType':
      return file.mimeType;
    case 'size':
      return file.size;
    case 'constant':
      return value.constant;
    default:
      return stringValue(value.kind, file);
  }
}

function stringValue(kind: StringForm['kind'], { path, mimeType, base64 }: ReadFile): string {
  switch (kind) {
    case 'base64':
      return base64;
    case 'base64url':
      return base64.replace(/[+/=]/g, (sign) => (sign === '+' ? '-' : sign === '/' ? '_' : ''));
    case 'dataUrl':
      return `data:${mimeType};base64,${base64}`;
    case 'path':
      return path;
    case 'fileUrl':
      return pathToFileURL(path).href;
  }
}
