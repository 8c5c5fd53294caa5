/** Templates of addresses with blanks in them, such as `files://{folder}/{name}{?version}`, as RFC 6570 has them. */

export interface TemplateBlank {
  readonly name: string;
  /** Where an address would have a hole without it. */
  readonly required: boolean;
}

interface Form {
  readonly first: string;
  readonly between: string;
  readonly named?: true;
  /** What stands behind the name of an empty value. */
  readonly ifEmpty?: string;
  /** Signs that mean something in addresses stay as they are. */
  readonly keepsSigns?: true;
  readonly optional?: true;
}

const FORMS: Readonly<Record<string, Form>> = {
  '': { first: '', between: ',' },
  '+': { first: '', between: ',', keepsSigns: true },
  '#': { first: '#', between: ',', keepsSigns: true, optional: true },
  '.': { first: '.', between: '.' },
  '/': { first: '/', between: '/' },
  ';': { first: ';', between: ';', named: true, ifEmpty: '', optional: true },
  '?': { first: '?', between: '&', named: true, ifEmpty: '=', optional: true },
  '&': { first: '&', between: '&', named: true, ifEmpty: '=', optional: true },
};

const EXPRESSION = /\{([+#./;?&]?)([^{}]+)\}/g;
const VARIABLE = /^([^*:]+)(?::(\d{1,4})|(\*))?$/;

/** The blanks in their order, each once. */
export function readBlanks(template: string): readonly TemplateBlank[] {
  const blanks = new Map<string, TemplateBlank>();
  for (const [, operator = '', list = ''] of template.matchAll(EXPRESSION)) {
    for (const { name } of readVariables(list)) {
      const required = blanks.get(name)?.required === true || formOf(operator).optional !== true;
      blanks.set(name, { name, required });
    }
  }
  return [...blanks.values()];
}

/** The address with its blanks filled in; what has no value is left out. With `*`, commas divide a value. */
export function fillBlanks(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(EXPRESSION, (_whole, operator: string, list: string) => {
    const form = formOf(operator);
    const filled = readVariables(list).flatMap(({ name, maxChars, isList }) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === undefined) return [];
      return (isList ? value.split(',') : [value]).map((each) => fillIn(form, name, cut(each, maxChars)));
    });
    return filled.length === 0 ? '' : form.first + filled.join(form.between);
  });
}

interface Variable {
  readonly name: string;
  readonly maxChars?: number;
  readonly isList: boolean;
}

function readVariables(list: string): readonly Variable[] {
  return list.split(',').flatMap((each) => {
    const [, name, maxChars, star] = VARIABLE.exec(each.trim()) ?? [];
    if (name === undefined) return [];
    return [{ name, isList: star !== undefined, ...(maxChars ? { maxChars: Number(maxChars) } : {}) }];
  });
}

function formOf(operator: string): Form {
  return FORMS[operator] ?? { first: '', between: ',' };
}

function cut(value: string, maxChars: number | undefined): string {
  return maxChars === undefined ? value : Array.from(value).slice(0, maxChars).join('');
}

function fillIn({ named, ifEmpty = '', keepsSigns }: Form, name: string, value: string): string {
  const encoded = keepsSigns ? encodeLoosely(value) : encodeStrictly(value);
  if (!named) return encoded;
  return encoded === '' ? `${name}${ifEmpty}` : `${name}=${encoded}`;
}

function encodeStrictly(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** What is encoded already is not encoded again. */
function encodeLoosely(value: string): string {
  return encodeURI(value.toWellFormed()).replace(/%25(?=[0-9A-Fa-f]{2})|%5[BbDd]/g, (sign) =>
    sign === '%25' ? '%' : decodeURIComponent(sign),
  );
}
