import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { HARMLESS, textBlock } from '../content.ts';
import {
  ARCHIVE,
  embedResource,
  JINGLE,
  linkResource,
  NOTES,
  PHOTO,
  READINGS,
  REPORT,
} from '../resources.ts';

export function registerDocumentTools(server: McpServer): void {
  server.registerTool(
    'report',
    {
      title: 'Write a report',
      description: 'Writes a report of one page with a bar chart. Returns a PDF as an embedded resource.',
      annotations: HARMLESS,
    },
    () => ({ content: [embedResource(REPORT)] }),
  );

  server.registerTool(
    'archive',
    {
      title: 'Pack an archive',
      description: 'Packs two small files. Returns a ZIP as an embedded resource.',
      annotations: HARMLESS,
    },
    () => ({ content: [embedResource(ARCHIVE)] }),
  );

  server.registerTool(
    'notes',
    {
      title: 'Fetch the notes',
      description: 'Returns the notes of a meeting: Markdown text as an embedded resource.',
      annotations: HARMLESS,
    },
    () => ({ content: [embedResource(NOTES)] }),
  );

  server.registerTool(
    'media',
    {
      title: 'Fetch a photo and a jingle',
      description: 'Returns a JPEG image and MP3 audio, both as embedded resources.',
      annotations: HARMLESS,
    },
    () => ({ content: [embedResource(PHOTO), embedResource(JINGLE)] }),
  );

  server.registerTool(
    'link',
    {
      title: 'Link to a table',
      description: 'Returns a link to a table of readings. Read the resource to get the table.',
      annotations: HARMLESS,
    },
    () => ({ content: [textBlock('The readings are here:'), linkResource(READINGS)] }),
  );
}
