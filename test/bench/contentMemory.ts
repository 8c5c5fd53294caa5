/** `node contentMemory.ts TASK ours|plain SMALL LARGE`: prints how far the memory rises with the large image, in bytes. */
import { CONTENT_TASKS, loadForms } from './contentTasks.ts';

const [number, way, small = '', large = ''] = process.argv.slice(2);
const task = CONTENT_TASKS[Number(number)];
if (task === undefined || (way !== 'ours' && way !== 'plain')) throw new Error('There is no such task.');

// Loads and compiles what is needed, so that the peak is that of the image.
await task[way](await loadForms(small, task.form));
const forms = await loadForms(large, task.form);
const idle = process.memoryUsage.rss();
await task[way](forms);
console.log(Math.max(process.resourceUsage().maxRSS * 1024, process.memoryUsage.rss()) - idle);
