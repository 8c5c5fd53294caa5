/** What the editor computes from a hostile list of tools and from a hostile chat, piece by piece. */
import { setImmediate as nextLoop } from 'node:timers/promises';
import { completionPlace } from '../../src/chat/completion.ts';
import { endRun } from '../../src/chat/edits/append.ts';
import { forkAt } from '../../src/chat/edits/fork.ts';
import { readSettings } from '../../src/chat/format/frontMatter.ts';
import { findLinks } from '../../src/chat/format/links.ts';
import { nextAction } from '../../src/chat/format/nextAction.ts';
import { commentsOfChat, parseChat } from '../../src/chat/format/parse.ts';
import { planFolds, planOutline } from '../../src/chat/outline/outline.ts';
import { findAssetUses, referenceAt } from '../../src/chat/outline/references.ts';
import { searchChat, searchWords } from '../../src/chat/outline/searchChat.ts';
import { summarizeChat } from '../../src/chat/outline/title.ts';
import { TurnShapes } from '../../src/chat/outline/turnShape.ts';
import { ArgumentHelp } from '../../src/mcp/callArguments/help.ts';
import { repairArguments } from '../../src/mcp/callArguments/repair.ts';
import { argumentsSnippet } from '../../src/mcp/callArguments/schema.ts';
import { inferForm } from '../../src/mcp/fileArguments/form.ts';
import { checkStructured } from '../../src/mcp/pool/outputCheck.ts';
import { isAnswer, printAnswer } from '../../src/mcp/schema/answer.ts';
import { argumentQuestions, fillDefaults, withPatterns } from '../../src/mcp/schema/arguments.ts';
import { exampleFor } from '../../src/mcp/schema/example.ts';
import { SchemaWalk } from '../../src/mcp/schema/walk.ts';
import { modelTools } from '../../src/model/request/modelTools.ts';
import type { ToolInfo } from '../../src/ports/tools.ts';
import { render } from '../unit/views/preview/helpers.ts';

const MAX_TOOLS = 4;

export async function probeTools(tools: readonly ToolInfo[]): Promise<void> {
  await each([() => modelTools(tools)]);
  for (const { inputSchema, outputSchema } of tools.slice(0, MAX_TOOLS)) {
    const walk = new SchemaWalk(inputSchema);
    const example = exampleFor(inputSchema, walk);
    const text = JSON.stringify(example) ?? '{}';
    await each([
      async () => {
        for (const question of (await withPatterns(argumentQuestions(inputSchema))).slice(0, 20)) {
          const value = 'default' in question ? question['default'] : 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!';
          isAnswer(question, value);
          printAnswer(question, value);
        }
      },
      () => fillDefaults(inputSchema, {}),
      () => argumentsSnippet(inputSchema),
      () => repairArguments('{"a": "1", "b": [2]', inputSchema),
      () => inferForm({ name: 'a', schema: inputSchema, walk: new SchemaWalk(inputSchema) }, 'asset'),
      () => checkStructured(outputSchema ?? inputSchema, example),
      async () => {
        const help = await ArgumentHelp.create(inputSchema);
        if (!help) return;
        await each([
          () => help.check(text),
          () => help.complete(text, 1),
          () => help.at(text, Math.floor(text.length / 2)),
        ]);
      },
    ]);
  }
}

const MAX_RENDERED_CHARS = 20_000;

/** Resolves to what the preview shows. */
export async function probeChat(text: string): Promise<string> {
  const chat = parseChat(text);
  const shapes = new TurnShapes();
  const middle = Math.floor(text.length / 2);
  let html = '';
  await each([
    () => parseChat(text),
    () => nextAction(text, chat),
    () => readSettings(chat),
    () => planOutline(text, chat, shapes),
    () => planFolds(text, chat, shapes),
    () => commentsOfChat(text),
    () => findLinks(text),
    () => findAssetUses(text, chat),
    () => referenceAt(text, chat, middle),
    () => summarizeChat(text),
    () => searchChat(text, '', searchWords('words user'), 20),
    () => completionPlace(text, chat, middle),
    () => completionPlace(text, chat, text.length),
    () => forkAt(text, middle),
    () => endRun(text),
    () => {
      if (text.length <= MAX_RENDERED_CHARS) html = render(text);
    },
  ]);
  return html;
}

/** One after the other, so that a stall belongs to one of them. */
async function each(probes: readonly (() => unknown)[]): Promise<void> {
  for (const probe of probes) {
    await probe();
    await nextLoop();
  }
}
