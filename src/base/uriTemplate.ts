export interface TemplateVariable {
  readonly name: string;
  /** Without a value the URI would be incomplete. */
  readonly required: boolean;
}

interface Operator {
  readonly first: string;
  readonly between: string;
  readonly named?: true;
  /** Follows the name when the value is empty. */
  readonly ifEmpty?: string;
  readonly keepsReserved?: true;
  readonly optional?: true;
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  '': { first: '', between: ',' },
  '+': { first: '', between: ',', keepsReserved: true },
  '#': { first: '#', between: ',', keepsReserved: true, optional: true },
  '.': { first: '.', between: '.' },
  '/': { first: '/', between: '/' },
  ';': { first: ';', between: ';', named: true, ifEmpty: '', optional: true },
  '?': { first: '?', between: '&', named: true, ifEmpty: '=', optional: true },
  '&': { first: '&', between: '&', named: true, ifEmpty: '=', optional: true },
};

const EXPRESSION = /\{([+#./;?&]?)([^{}]+)\}/g;
const VARIABLE = /^([^*:]+)(?::(\d{1,4})|(\*))?$/;

/** The variables of an RFC 6570 template such as `files://{folder}/{name}{?version}`, in order, each once. */
export function readVariables(template: string): readonly TemplateVariable[] {
  const variables = new Map<string, TemplateVariable>();
  for (const [, operator = '', list = ''] of template.matchAll(EXPRESSION)) {
    for (const { name } of parseVariables(list)) {
      const required = variables.get(name)?.required === true || operatorOf(operator).optional !== true;
      variables.set(name, { name, required });
    }
  }
  return [...variables.values()];
}

/** Fills in a template. Variables without a value are omitted; with `*`, a value is split at its commas. */
export function expandTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(EXPRESSION, (_whole, operator: string, list: string) => {
    const form = operatorOf(operator);
    const filled = parseVariables(list).flatMap(({ name, maxChars, isList }) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === undefined) return [];
      return (isList ? value.split(',') : [value]).map((each) => expand(form, name, cut(each, maxChars)));
    });
    return filled.length === 0 ? '' : form.first + filled.join(form.between);
  });
}

/** The URI that a template becomes. A plain URI stays as it is. Throws if required variables have no value. */
export function fillTemplate(template: string, values: Readonly<Record<string, unknown>>): string {
  const missing = readVariables(template).filter(
    ({ name, required }) => required && !Object.hasOwn(values, name),
  );
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ');
    throw new Error(`${template} is a template. Give values in its arguments for: ${names}.`);
  }
  const texts = Object.entries(values).map(([name, value]) => [name, String(value)]);
  return expandTemplate(template, Object.fromEntries(texts));
}

interface VariableSpec {
  readonly name: string;
  readonly maxChars?: number;
  readonly isList: boolean;
}

function parseVariables(list: string): readonly VariableSpec[] {
  return list.split(',').flatMap((each) => {
    const [, name, maxChars, star] = VARIABLE.exec(each.trim()) ?? [];
    if (name === undefined) return [];
    return [{ name, isList: star !== undefined, ...(maxChars ? { maxChars: Number(maxChars) } : {}) }];
  });
}

function operatorOf(symbol: string): Operator {
  return OPERATORS[symbol] ?? { first: '', between: ',' };
}

function cut(value: string, maxChars: number | undefined): string {
  return maxChars === undefined ? value : Array.from(value).slice(0, maxChars).join('');
}

function expand({ named, ifEmpty = '', keepsReserved }: Operator, name: string, value: string): string {
  const encoded = keepsReserved ? encodeReserved(value) : encodeAll(value);
  if (!named) return encoded;
  return encoded === '' ? `${name}${ifEmpty}` : `${name}=${encoded}`;
}

function encodeAll(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Existing percent escapes are kept. */
function encodeReserved(value: string): string {
  return encodeURI(value.toWellFormed()).replace(/%25(?=[0-9A-Fa-f]{2})|%5[BbDd]/g, (sign) =>
    sign === '%25' ? '%' : decodeURIComponent(sign),
  );
}
