import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type CallToolResult as CallToolResult1,
  CallToolResultSchema,
  type ReadResourceResult as ReadResourceResult1,
} from '@modelcontextprotocol/sdk/types.js';
import {
  type CallToolResult as CallToolResult2,
  isCallToolResult,
  type ReadResourceResult as ReadResourceResult2,
} from '@modelcontextprotocol/server';
import {
  type AudioContent,
  type BinaryContent,
  type EmbeddedResource,
  type ImageContent,
  normalizeResult,
  type ResourceContents,
  type ToolResult,
} from '../../../src/content/index.ts';
import { SAMPLES } from './samples.ts';

/** Compiling these is the test: the results of the helpers are assignable to the types of both SDKs. */
const asTool = {
  sdk1: (result: ToolResult): CallToolResult1 => result,
  sdk2: (result: ToolResult): CallToolResult2 => result,
};
const asBlocks = {
  sdk1: (blocks: (ImageContent | AudioContent | BinaryContent | EmbeddedResource)[]): CallToolResult1 => ({
    content: blocks,
  }),
  sdk2: (blocks: (ImageContent | AudioContent | BinaryContent | EmbeddedResource)[]): CallToolResult2 => ({
    content: blocks,
  }),
};
const asContents = {
  sdk1: (contents: ResourceContents): ReadResourceResult1 => ({ contents: [contents] }),
  sdk2: (contents: ResourceContents): ReadResourceResult2 => ({ contents: [contents] }),
};

it('every block passes the checks of both SDKs', async () => {
  const result = await normalizeResult([
    'text',
    ...Object.values(SAMPLES).map((make) => make()),
    { type: 'resource_link', uri: 'a:b', name: 'b' },
    { type: 'file', path: 'README.md' },
  ]);
  assert.deepEqual(CallToolResultSchema.parse(asTool.sdk1(result)), result);
  assert.equal(isCallToolResult(asTool.sdk2(result)), true);
  assert.ok(asBlocks && asContents);
});
