import { join } from 'node:path';
import type { Arguments } from '../integration/helpers/serving.ts';
import { BROWSERS } from './browsers.ts';
import type { Call, TestedServer } from './testedServer.ts';

const ENTITIES = [{ name: 'Ada', entityType: 'person', observations: ['writes programs', 'likes “quotes”'] }];
const RELATION = { from: 'Ada', to: 'Ada', relationType: 'knows' };

const debug = (contentType: string, more: Arguments = {}): Call => ['debug-tool', { contentType, ...more }];
/** Servers of the repository of MCP Apps, which use HTTP unless told otherwise. */
const app = (name: string, version: string, calls: TestedServer['calls']): TestedServer => ({
  name: `@modelcontextprotocol/server-${name}`,
  version,
  args: () => ['--stdio'],
  calls,
});

export const SERVERS: readonly TestedServer[] = [
  {
    name: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    calls: () => [
      ['echo', { message: 'Über 🎉\n# %% user\n```' }],
      ['get-annotated-message', { messageType: 'error', includeImage: true }],
      ['get-annotated-message', { messageType: 'debug', includeImage: true }],
      ['get-env'],
      ['get-resource-links', { count: 4 }],
      ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
      ['get-resource-reference', { resourceType: 'Blob', resourceId: 2 }],
      ['get-structured-content', { location: 'New York' }],
      ['get-sum', { a: 2, b: 3 }],
      ['get-tiny-image'],
      [
        'gzip-file-as-resource',
        { name: 'a.gz', data: 'data:text/plain;base64,SGVsbG8=', outputType: 'resource' },
      ],
      [
        'gzip-file-as-resource',
        { name: 'b.gz', data: 'data:text/plain;base64,SGVsbG8=', outputType: 'resourceLink' },
      ],
      ['toggle-simulated-logging'],
      ['toggle-subscriber-updates'],
      ['trigger-long-running-operation', { duration: 1, steps: 2 }],
    ],
  },
  app('debug', '2.0.3', () => [
    ...['text', 'image', 'audio', 'resource', 'resourceLink', 'mixed'].map((type) => debug(type)),
    ...['text', 'image', 'audio', 'mixed'].map((type) => debug(type, { multipleBlocks: true })),
    debug('mixed', { multipleBlocks: true, includeStructuredContent: false, includeMeta: true }),
    debug('text', { simulateError: true }),
    debug('text', { largeInput: 'x'.repeat(20_000) }),
    ['debug-refresh'],
    ['debug-log', { type: 'a', payload: { b: [1, null] } }],
  ]),
  {
    name: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    args: ({ files }) => [files],
    calls: ({ files }) => {
      const path = (name: string) => join(files, name);
      return [
        ['read_file', { path: path('notes.txt') }],
        ['read_text_file', { path: path('long.txt') }],
        ['read_text_file', { path: path('long.txt'), tail: 2 }],
        ['read_media_file', { path: path('image.png') }],
        ['read_media_file', { path: path('sound.wav') }],
        ['read_media_file', { path: path('data.bin') }],
        ['read_multiple_files', { paths: [path('notes.txt'), path('missing.txt')] }],
        ['write_file', { path: path('new.txt'), content: 'One\nTwo\n' }],
        ['edit_file', { path: path('new.txt'), edits: [{ oldText: 'Two', newText: 'Three' }] }],
        ['create_directory', { path: path('sub') }],
        ['move_file', { source: path('new.txt'), destination: path('sub/new.txt') }],
        ['list_directory', { path: files }],
        ['list_directory_with_sizes', { path: files }],
        ['directory_tree', { path: files }],
        ['search_files', { path: files, pattern: '*.txt' }],
        ['get_file_info', { path: path('image.png') }],
        ['list_allowed_directories'],
        ['read_file', { path: '/outside' }],
      ];
    },
  },
  {
    name: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    env: ({ folder }) => ({ MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }),
    calls: () => [
      ['create_entities', { entities: ENTITIES }],
      ['create_relations', { relations: [RELATION] }],
      ['add_observations', { observations: [{ entityName: 'Ada', contents: ['reads'] }] }],
      ['read_graph'],
      ['search_nodes', { query: 'Ada' }],
      ['open_nodes', { names: ['Ada'] }],
      ['delete_observations', { deletions: [{ entityName: 'Ada', observations: ['reads'] }] }],
      ['delete_relations', { relations: [RELATION] }],
      ['delete_entities', { entityNames: ['Ada'] }],
    ],
  },
  {
    name: '@modelcontextprotocol/server-sequential-thinking',
    version: '2026.8.31',
    calls: () => [
      ['sequentialthinking', { thought: 'One', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }],
      [
        'sequentialthinking',
        { thought: 'Two', nextThoughtNeeded: false, thoughtNumber: 2, totalThoughts: 2 },
      ],
    ],
  },
  ...BROWSERS,
  {
    name: 'mcp-memory-libsql',
    version: '0.0.17',
    env: ({ folder }) => ({ LIBSQL_URL: `file:${join(folder, 'memory.db')}` }),
    calls: () => [
      ['create_entities', { entities: ENTITIES }],
      ['create_relations', { relations: [{ source: 'Ada', target: 'Ada', type: 'knows' }] }],
      ['read_graph'],
      ['search_nodes', { query: 'Ada' }],
      ['delete_relation', { source: 'Ada', target: 'Ada', type: 'knows' }],
      ['delete_entity', { name: 'Ada' }],
    ],
  },
  {
    name: 'mongodb-mcp-server',
    version: '3.0.4',
    env: () => ({ MDB_MCP_TELEMETRY: 'disabled' }),
    calls: () => [
      ['list-connections'],
      ['connect', { connectionString: 'mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=500' }],
      ['list-databases', { connectionId: 'none' }],
    ],
  },
  {
    name: '@negokaz/excel-mcp-server',
    version: '0.12.0',
    calls: ({ files }) => {
      const sheet = { fileAbsolutePath: join(files, 'book.xlsx'), sheetName: 'One' };
      return [
        [
          'excel_write_to_sheet',
          {
            ...sheet,
            newSheet: true,
            range: 'A1:B2',
            values: [
              ['a', 1],
              ['ü', 2],
            ],
          },
        ],
        ['excel_describe_sheets', { fileAbsolutePath: sheet.fileAbsolutePath }],
        ['excel_read_sheet', { ...sheet, showFormula: true }],
        ['excel_create_table', { ...sheet, range: 'A1:B2', tableName: 'T1' }],
        [
          'excel_copy_sheet',
          { fileAbsolutePath: sheet.fileAbsolutePath, srcSheetName: 'One', dstSheetName: 'Two' },
        ],
      ];
    },
  },
  {
    name: '@sylphx/pdf-reader-mcp',
    version: '2.4.0',
    calls: ({ files }) => [
      [
        'read_pdf',
        { sources: [{ path: join(files, 'page.pdf') }], include_full_text: true, include_metadata: true },
      ],
      ['read_pdf', { sources: [{ path: join(files, 'page.pdf'), pages: [1] }], include_images: true }],
      ['read_pdf', { sources: [{ path: join(files, 'missing.pdf') }] }],
    ],
  },
  {
    name: '@cyanheads/git-mcp-server',
    version: '2.15.3',
    env: ({ files }) => ({
      GIT_BASE_DIR: files,
      GIT_USERNAME: 'Ada',
      GIT_EMAIL: 'ada@example.com',
      GIT_SIGN_COMMITS: 'false',
    }),
    calls: ({ files }) => {
      const path = join(files, 'repository');
      return [
        ['git_init', { path }],
        ['git_set_working_dir', { path }],
        ['git_status', { path }],
        ['git_commit', { path, message: 'Start', allowEmpty: true }],
        ['git_log', { path }],
        ['git_branch', { path, mode: 'list' }],
        ['git_tag', { path, mode: 'create', tagName: 'v1' }],
        ['git_show', { path, object: 'HEAD' }],
        ['git_diff', { path }],
        ['git_reflog', { path }],
        ['git_stash', { path, mode: 'list' }],
        ['git_remote', { path, mode: 'list' }],
        ['git_checkout', { path, target: 'missing' }],
        ['git_wrapup_instructions', { acknowledgement: 'yes' }],
      ];
    },
  },
  {
    name: 'mcp-server-code-runner',
    version: '0.1.8',
    calls: () => [
      ['run-code', { languageId: 'javascript', code: 'console.log("\\u001b[31mred\\u001b[0m\\r\\nÜber")' }],
      ['run-code', { languageId: 'javascript', code: 'throw new Error("No")' }],
      ['run-code', { languageId: 'unknown', code: '' }],
    ],
  },
  {
    name: 'repomix',
    version: '1.18.1',
    args: () => ['--mcp'],
    calls: ({ files }) => [
      ['pack_codebase', { directory: files, includePatterns: '*.txt' }],
      ['read_repomix_output', { outputId: 'missing' }],
      ['generate_skill', { directory: files, skillName: 'files', includePatterns: '*.txt' }],
      ['attach_packed_output', { path: join(files, 'missing.xml') }],
    ],
  },
  {
    name: 'mcp-server-commands',
    version: '0.5.0',
    calls: () => [
      ['run_command', { command: 'printf "One\\r\\nTwo\\t\\033[1mbold\\033[0m\\n"; echo oops >&2' }],
      ['run_command', { command: 'exit 3' }],
    ],
  },
  {
    name: 'mcp-hello-world',
    version: '1.1.2',
    calls: () => [['echo', { message: ' spaces around \n' }], ['debug'], ['add', { a: 1, b: 2 }]],
  },
  app('pdf', '2.0.4', ({ files }) => [
    ['list_pdfs'],
    ['read_pdf_bytes', { url: `file://${join(files, 'page.pdf')}` }],
    ['display_pdf', { url: `file://${join(files, 'page.pdf')}` }],
  ]),
  app('map', '2.0.3', () => [['show-map', { west: 7, south: 47, east: 8, north: 48, label: 'Here' }]]),
  app('threejs', '2.0.3', () => [['show_threejs_scene'], ['learn_threejs']]),
  app('shadertoy', '2.0.3', () => [['render-shadertoy']]),
  app('sheet-music', '2.0.3', () => [['play-sheet-music', { abcNotation: 'X:1\nK:C\nCDEF|' }]]),
  app('budget-allocator', '2.0.3', () => [['get-budget-data']]),
  app('cohort-heatmap', '2.0.3', () => [['get-cohort-data', { cohortCount: 4, maxPeriods: 4 }]]),
  app('customer-segmentation', '2.0.3', () => [['get-customer-data']]),
  app('scenario-modeler', '2.0.3', () => [['get-scenario-data']]),
  app('system-monitor', '2.0.3', () => [['get-system-info'], ['poll-system-stats']]),
  app('transcript', '2.0.3', () => [['transcribe']]),
  { ...app('wiki-explorer', '2.0.3', () => []), note: 'its tool needs the internet' },
];
