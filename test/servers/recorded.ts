import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { field, parseJson } from '../../src/base/json.ts';

/** The raw results of all tool calls in a folder of `tee.ts`, in the order of the calls. Undefined for an error. */
export function readRecordedResults(folder: string): readonly unknown[] {
  const processes = readdirSync(folder).filter((name) => name.endsWith('.in'));
  return processes.flatMap((name) => {
    const sent = readLines(join(folder, name));
    const answers = new Map(
      readLines(join(folder, name.replace(/in$/, 'out'))).map((each) => [field(each, 'id'), each]),
    );
    const calls = sent.filter((each) => field(each, 'method') === 'tools/call');
    return calls.map((call) => field(answers.get(field(call, 'id')), 'result'));
  });
}

/** Servers also print lines that are not JSON. */
function readLines(path: string): readonly unknown[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line) => (line.startsWith('{') ? [parseJson(line)] : []));
}
