import type { DocumentJob, DocumentReader, DocumentText } from '../job.ts';

export type ReadDocument = (job: DocumentJob) => Promise<DocumentText> | DocumentText;

/** Each reader brings a library of its own. */
const READERS: Readonly<Record<DocumentReader, () => Promise<ReadDocument>>> = {
  pdf: async () => {
    const { loadPdf, readPdf } = await import('./pdf.ts');
    await loadPdf();
    return readPdf;
  },
  office: async () => (await import('./office.ts')).readOffice,
  sheet: async () => (await import('./sheet.ts')).readSheets,
  html: async () => (await import('./html.ts')).readHtml,
  notebook: async () => (await import('./notebook.ts')).readNotebook,
  mail: async () => (await import('./mail.ts')).readMail,
  plain: async () => (await import('./plain.ts')).readPlain,
  zip: async () => (await import('./zipped.ts')).listZip,
};

export function loadReader(reader: DocumentReader): Promise<ReadDocument> {
  return READERS[reader]();
}
