import type { Arguments } from '../integration/helpers/serving.ts';
import type { Call, TestedServer } from './testedServer.ts';

const PIE = '{"series":[{"type":"pie","data":[1,2]}]}';
const FLOW = 'graph TD; A[Start] --> B[End]';
const DATA = [
  { category: 'A', value: 3 },
  { category: 'B', value: 5 },
];
const POINTS = [
  { time: '2026-01', value: 3 },
  { time: '2026-02', value: 5 },
];
const PAIRS = [
  { x: 1, y: 2 },
  { x: 3, y: 4 },
];
const chart = (name: string, data: unknown, more: Arguments = {}): Call => [
  `generate_${name}_chart`,
  { data, title: name, width: 300, height: 200, ...more },
];

/** Servers that control a browser or draw. */
export const BROWSERS: readonly TestedServer[] = [
  {
    name: '@playwright/mcp',
    version: '0.0.83',
    args: ({ chromium }) => ['--executable-path', chromium, '--headless', '--isolated', '--no-sandbox'],
    calls: ({ page }) => [
      ['browser_navigate', { url: page }],
      ['browser_snapshot'],
      ['browser_take_screenshot', { type: 'png' }],
      ['browser_take_screenshot', { type: 'jpeg', fullPage: true }],
      ['browser_resize', { width: 400, height: 300 }],
      ['browser_evaluate', { function: '() => ({ a: [1, "ü"] })' }],
      ['browser_find', { text: 'Hello' }],
      ['browser_press_key', { key: 'Tab' }],
      ['browser_console_messages'],
      ['browser_network_requests', { static: true }],
      ['browser_tabs', { action: 'list' }],
      ['browser_click', { element: 'Nothing', target: 'e999' }],
      ['browser_close'],
    ],
  },
  {
    name: 'chrome-devtools-mcp',
    version: '1.11.0',
    args: ({ chromium }) => [
      ...['--executablePath', chromium, '--headless', '--isolated', '--chromeArg=--no-sandbox'],
      ...['--no-usage-statistics', '--no-performance-crux'],
    ],
    calls: ({ page }) => [
      ['new_page', { url: page }],
      ['list_pages'],
      ['take_snapshot', { pageId: 2 }],
      ['take_screenshot', { pageId: 2 }],
      ['take_screenshot', { pageId: 2, format: 'webp', fullPage: true }],
      ['evaluate_script', { pageId: 2, function: '() => document.title' }],
      ['list_console_messages', { pageId: 2 }],
      ['list_network_requests', { pageId: 2 }],
      ['click', { pageId: 2, uid: 'nothing' }],
    ],
  },
  {
    name: '@modelcontextprotocol/server-puppeteer',
    version: '2025.5.12',
    env: ({ chromium }) => ({
      PUPPETEER_LAUNCH_OPTIONS: JSON.stringify({
        headless: true,
        executablePath: chromium,
        args: ['--no-sandbox'],
      }),
      ALLOW_DANGEROUS: 'true',
    }),
    calls: ({ page }) => [
      ['puppeteer_navigate', { url: page }],
      ['puppeteer_screenshot', { name: 'page', width: 300, height: 200 }],
      ['puppeteer_screenshot', { name: 'page', encoded: true, width: 300, height: 200 }],
      ['puppeteer_fill', { selector: '#name', value: 'Ada' }],
      ['puppeteer_click', { selector: 'button' }],
      ['puppeteer_hover', { selector: '.missing' }],
      ['puppeteer_evaluate', { script: 'console.log("Hi"); document.title' }],
    ],
  },
  {
    name: '@executeautomation/playwright-mcp-server',
    version: '1.0.12',
    env: ({ chromium }) => ({ CHROME_EXECUTABLE_PATH: chromium }),
    calls: ({ page, files }) => [
      ['playwright_navigate', { url: page, headless: true }],
      ['playwright_screenshot', { name: 'page', storeBase64: true, savePng: false }],
      ['playwright_screenshot', { name: 'page', savePng: true, storeBase64: false, downloadsDir: files }],
      ['playwright_fill', { selector: '#name', value: 'Ada' }],
      ['playwright_click', { selector: 'button' }],
      ['playwright_get_visible_text'],
      ['playwright_get_visible_html'],
      ['playwright_evaluate', { script: 'document.title' }],
      ['playwright_console_logs', { type: 'all' }],
      ['playwright_get', { url: page }],
      ['playwright_save_as_pdf', { outputPath: files }],
      ['playwright_close'],
    ],
  },
  {
    name: '@agent-infra/mcp-server-browser',
    version: '1.2.29',
    // Its screenshots hang in the headless shell: set CHROMIUM to a whole browser.
    args: ({ chromium }) => ['--headless', '--executable-path', chromium],
    calls: ({ page }) => [
      ['browser_navigate', { url: page }],
      ['browser_get_clickable_elements'],
      ['browser_screenshot', { name: 'page' }],
      ['browser_get_markdown'],
      ['browser_get_text'],
      ['browser_read_links'],
      ['browser_evaluate', { script: '() => document.title' }],
      ['browser_tab_list'],
      ['browser_get_download_list'],
      ['browser_scroll', { amount: 10 }],
      ['browser_close'],
    ],
  },
  {
    name: 'mcp-echarts',
    version: '0.7.1',
    // The process ends after an error in a heat map.
    calls: () => [
      ['generate_echarts', { echartsOption: PIE, outputType: 'png' }],
      ['generate_echarts', { echartsOption: PIE, outputType: 'svg' }],
      ['generate_echarts', { echartsOption: PIE, outputType: 'option' }],
      ['generate_echarts', { echartsOption: 'not JSON' }],
      chart('area', POINTS),
      chart('line', POINTS),
      chart('bar', DATA),
      chart('pie', DATA),
      chart('radar', [
        { name: 'A', value: 3 },
        { name: 'B', value: 5 },
        { name: 'C', value: 4 },
      ]),
      chart('scatter', PAIRS),
      chart('sankey', [{ source: 'A', target: 'B', value: 3 }]),
      chart('funnel', DATA),
      chart('gauge', [{ name: 'A', value: 3 }]),
      chart('treemap', [{ name: 'A', value: 3 }]),
      chart('sunburst', [{ name: 'A', value: 3 }]),
      chart('candlestick', [{ date: '2026-01-01', open: 1, high: 3, low: 1, close: 2 }]),
      chart('boxplot', DATA),
      chart('tree', { name: 'A', children: [{ name: 'B' }] }),
      chart('graph', { nodes: [{ id: 'a', name: 'A' }], edges: [] }),
      chart('parallel', [{ name: 'A', values: [1, 2] }], { dimensions: ['x', 'y'] }),
    ],
  },
  {
    name: 'mcp-mermaid',
    version: '0.4.1',
    env: ({ browsers }) => ({ PLAYWRIGHT_BROWSERS_PATH: browsers }),
    calls: () => [
      ['generate_mermaid_diagram', { mermaid: FLOW, outputType: 'mermaid' }],
      ['generate_mermaid_diagram', { mermaid: FLOW, outputType: 'svg_url' }],
      ['generate_mermaid_diagram', { mermaid: FLOW, outputType: 'base64' }],
    ],
  },
  {
    name: 'mcp-excalidraw-server',
    version: '2.0.0',
    calls: () => [
      ['create_element', { type: 'rectangle', x: 1, y: 2, width: 30, height: 40 }],
      ['batch_create_elements', { elements: [{ type: 'text', x: 1, y: 2, text: 'Über' }] }],
      ['query_elements'],
      ['describe_scene'],
      ['get_resource', { resource: 'scene' }],
      ['create_from_mermaid', { mermaidDiagram: FLOW }],
      ['export_scene'],
      ['snapshot_scene', { name: 'one' }],
      ['read_diagram_guide'],
      ['get_element', { id: 'missing' }],
      ['clear_canvas'],
    ],
  },
];
