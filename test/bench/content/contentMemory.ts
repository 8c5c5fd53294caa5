/** `node contentMemory.ts TASK ours|plain SMALL LARGE`: prints how much memory the large image takes at its peak, in bytes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { CONTENT_TASKS, loadForms } from './contentTasks.ts';

const [number, way, small = '', large = ''] = process.argv.slice(2);
const task = CONTENT_TASKS[Number(number)];
if (task === undefined || (way !== 'ours' && way !== 'plain')) throw new Error('Unknown task.');

// Loads and compiles the code, so that the peak is that of the image.
await task[way](await loadForms(small, task.form));
const forms = await loadForms(large, task.form);
resetPeak();
const idle = process.memoryUsage.rss();
await task[way](forms);
console.log(peakBytes() - idle);

/** Starting takes more memory than the work. On systems that cannot reset the peak, the figure is too high. */
function resetPeak(): void {
  if (process.platform === 'linux') writeFileSync('/proc/self/clear_refs', '5');
}

function peakBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
