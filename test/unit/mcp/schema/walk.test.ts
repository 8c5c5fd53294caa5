import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUDGET } from '../../../../src/base/budget.ts';
import { ArgumentHelp } from '../../../../src/mcp/callArguments/help.ts';
import { rememberable } from '../../../../src/mcp/callArguments/remembered.ts';
import { repairArguments } from '../../../../src/mcp/callArguments/repair.ts';
import { argumentsSnippet } from '../../../../src/mcp/callArguments/schema.ts';
import { expectedFiles, planFileArguments } from '../../../../src/mcp/fileArguments/referencedFiles.ts';
import { argumentQuestions, fillDefaults, missingArguments } from '../../../../src/mcp/schema/arguments.ts';
import { exampleFor } from '../../../../src/mcp/schema/example.ts';
import { schemaProblem } from '../../../../src/mcp/schema/schemaLimits.ts';
import { SchemaWalk } from '../../../../src/mcp/schema/walk.ts';

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));
const named = (count: number, schema: (at: number) => unknown) =>
  Object.fromEntries(list(count, (at) => [`p${at}`, schema(at)]));
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });

/** Small texts that stand for endless work. `p0` is the argument that is asked about. */
const HOSTILE: Readonly<Record<string, object>> = {
  'a union of itself': object(
    { p0: { $ref: '#/$defs/a' } },
    { $defs: { a: { anyOf: list(5, () => ({ $ref: '#/$defs/a' })) } } },
  ),
  'the root as a union of itself': {
    anyOf: list(4, () => ({ $ref: '#' })),
    properties: { p0: { $ref: '#' } },
  },
  'a wide union of itself': object(
    { p0: { $ref: '#/$defs/a' } },
    { $defs: { a: { oneOf: list(3000, () => ({ $ref: '#/$defs/a' })) } } },
  ),
  'allOf of itself': object(
    { p0: { $ref: '#/$defs/a' } },
    { $defs: { a: { allOf: list(60, () => ({ $ref: '#/$defs/a' })) } } },
  ),
  'doubling references': object(
    { p0: { $ref: '#/$defs/p0' } },
    {
      $defs: {
        ...named(60, (at) => ({ anyOf: [{ $ref: `#/$defs/p${at + 1}` }, { $ref: `#/$defs/p${at + 1}` }] })),
        p60: { type: 'string' },
      },
    },
  ),
  'doubling through properties': object(
    { p0: { $ref: '#/$defs/p0' } },
    {
      $defs: named(60, (at) =>
        object({ data: { $ref: `#/$defs/p${(at + 1) % 60}` }, p0: { $ref: `#/$defs/p${(at + 1) % 60}` } }),
      ),
    },
  ),
  'a long chain of references': object(
    { p0: { $ref: '#/$defs/p0' } },
    { $defs: named(3000, (at) => ({ $ref: `#/$defs/p${at + 1}` })) },
  ),
  'thousands of references to one union': object(
    named(1500, () => ({ $ref: '#/$defs/u' })),
    {
      $defs: { u: { anyOf: list(1000, (at) => ({ type: 'object', properties: { [`q${at}`]: {} } })) } },
    },
  ),
  'thousands of references to one list of choices': object(
    named(2500, () => ({ $ref: '#/$defs/e' })),
    {
      $defs: {
        e: { enum: list(1000, (at) => `${at}`.padStart(200, 'x')), default: '999'.padStart(200, 'x') },
      },
    },
  ),
  'thousands of references to one long default': object(
    named(2500, () => ({ $ref: '#/$defs/d' })),
    {
      $defs: { d: { default: { text: 'x'.repeat(150_000) } } },
    },
  ),
  'thousands of references to many properties': object(
    named(2500, () => ({ $ref: '#/$defs/o' })),
    {
      $defs: {
        o: object(
          named(1500, () => ({})),
          { required: list(1500, (at) => `p${at}`) },
        ),
      },
    },
  ),
  'required names that are joined at every level': {
    ...object({ p0: { $ref: '#/$defs/p3' } }),
    $ref: '#/$defs/p3',
    $defs: {
      ...named(4, (at) => ({ allOf: list(64, () => ({ $ref: `#/$defs/p${at - 1}` })) })),
      p0: { required: list(2000, (at) => `p${at}`) },
    },
  },
  'many keywords beside a wide union': object({
    p0: { ...named(3000, () => 1), anyOf: list(2000, () => ({})) },
  }),
};

/** The work on a schema, whoever does it: each value that is read, and each name that is listed. */
function counted(schema: object): { readonly schema: object; readonly reads: () => number } {
  let reads = 0;
  const proxies = new WeakMap<object, object>();
  const wrap = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const known = proxies.get(value) ?? new Proxy(value, handler);
    proxies.set(value, known);
    return known;
  };
  const handler: ProxyHandler<object> = {
    get: (target, key) => {
      reads += 1;
      return wrap(Reflect.get(target, key));
    },
    ownKeys: (target) => {
      const keys = Reflect.ownKeys(target);
      reads += keys.length;
      return keys;
    },
  };
  return { schema: wrap(schema) as object, reads: () => reads };
}

const ARGUMENTS = { p0: [{ p0: [{ p0: 'file:a.txt' }, '1', null] }, 'file:a.txt'], p1: null, p2: '[1]' };

/** Everything that reads the schema of a tool. */
const READERS: Readonly<Record<string, (schema: object) => unknown>> = {
  questions: argumentQuestions,
  defaults: (schema) => fillDefaults(schema, {}),
  'missing arguments': (schema) => missingArguments(schema, {}),
  example: (schema) => exampleFor(schema),
  snippet: argumentsSnippet,
  'file dialog': (schema) => expectedFiles(schema, 'p0'),
  'file arguments': (schema) => planFileArguments(ARGUMENTS, schema),
  repair: (schema) => repairArguments(JSON.stringify(ARGUMENTS), schema),
  'stored arguments': (schema) => rememberable(schema, ARGUMENTS),
};

/** Each step reads a few values: the keywords of a schema are read by name, too. */
const READS_PER_STEP = 12;

describe('a schema costs at most its budget', () => {
  for (const [attack, hostile] of Object.entries(HOSTILE)) {
    it(`${attack} is small enough to be listed`, () => assert.equal(schemaProblem(hostile), undefined));
    for (const [reader, read] of Object.entries(READERS)) {
      it(`${attack}: ${reader}`, () => {
        const { schema, reads } = counted(hostile);
        read(schema);
        assert.ok(reads() <= READS_PER_STEP * BUDGET.schemaSteps, `${reads()} reads`);
      });
    }
    it(`${attack}: help for arguments`, async () => {
      const help = await ArgumentHelp.create(hostile);
      const text = '{"p0": [{"p0": ""}], "p1": ""}';
      assert.ok(help);
      await help.check(text);
      await help.complete(text, 16);
      const { walk } = help.at(text, 16) ?? {};
      assert.ok(walk);
    });
  }
});

describe('a schema over its budget', () => {
  const over = HOSTILE['thousands of references to one list of choices'] ?? {};

  it('still asks for every argument, and says that the value is not checked', () => {
    const questions = argumentQuestions(over);
    assert.equal(questions.length, 2500);
    assert.equal(questions[0]?.kind, 'choice');
    assert.equal(questions.at(-1)?.kind, 'json');
    assert.equal(questions.at(-1)?.description, '(The schema of this tool is too large to check the value.)');
  });

  it('never offers a part of the choices', () => {
    const lengths = argumentQuestions(over).map((each) => ('choices' in each ? each.choices.length : 1000));
    assert.deepEqual(new Set(lengths), new Set([1000]));
  });

  it('changes no argument', () => {
    const schema = HOSTILE['thousands of references to many properties'] ?? {};
    const args = JSON.stringify({ ...named(2500, () => ({})), p2499: null });
    assert.ok(JSON.stringify(repairArguments(args, schema)?.value) === args);
  });

  it('takes no file, and says why', () => {
    const schema = HOSTILE['many keywords beside a wide union'] ?? {};
    assert.deepEqual(planFileArguments({ p0: 'file:a.txt' }, schema), {
      ok: false,
      message:
        'The file “file:a.txt” in the argument p0 was not used: the schema of the tool is too large to find out in which form. No tool was called.',
    });
  });
});

it('a large honest schema is within its budget', () => {
  const block = (at: number) =>
    object({
      kind: { const: `k${at}` },
      text: { type: 'string' },
      children: { type: 'array', items: { $ref: '#/$defs/block' } },
    });
  const schema = object(
    {
      ...named(100, (at) => ({ type: ['string', 'null'], description: `Field ${at}` })),
      blocks: { type: 'array', items: { $ref: '#/$defs/block' } },
    },
    { $defs: { block: { anyOf: list(60, block) } } },
  );
  const walk = new SchemaWalk(schema);
  exampleFor(schema, walk);
  assert.ok(!walk.isSpent);
  const questions = argumentQuestions(schema);
  assert.ok(questions.every(({ description }) => !description?.includes('too large')));
  const rows = list(2000, (at) => ({ p0: String(at), p1: at }));
  const rowSchema = object({
    rows: { type: 'array', items: object({ p0: { type: 'integer' }, p1: { type: 'integer' } }) },
  });
  assert.deepEqual(repairArguments(JSON.stringify({ rows }), rowSchema)?.value, {
    rows: list(2000, (at) => ({ p0: at, p1: at })),
  });
});
