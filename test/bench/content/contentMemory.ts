/** `node contentMemory.ts TASK ours|plain SMALL LARGE`: prints how far the memory rises with the large image, in bytes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { CONTENT_TASKS, loadForms } from './contentTasks.ts';

const [number, way, small = '', large = ''] = process.argv.slice(2);
const task = CONTENT_TASKS[Number(number)];
if (task === undefined || (way !== 'ours' && way !== 'plain')) throw new Error('There is no such task.');

// Loads and compiles what is needed, so that the peak is that of the image.
await task[way](await loadForms(small, task.form));
const forms = await loadForms(large, task.form);
forgetPeak();
const idle = process.memoryUsage.rss();
await task[way](forms);
console.log(peakBytes() - idle);

/** To start takes more memory than to work. Where the system cannot forget that, the figure is too high. */
function forgetPeak(): void {
  if (process.platform === 'linux') writeFileSync('/proc/self/clear_refs', '5');
}

function peakBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
