import * as vscode from 'vscode';
import { placeChat, readText } from '../chat/chatFiles.ts';

/** The name is that of the file in samples/ and of the new chat. */
type Sample = readonly [name: string, icon: string, title: string, about: string];

/** They need no API key, no network and only the bundled server. */
function allSamples(): readonly Sample[] {
  const { t } = vscode.l10n;
  return [
    ['tour', 'rocket', t('A First Tool'), t('One call that returns text, an image, audio and a PDF')],
    [
      'hello',
      'comment-discussion',
      t('A First Conversation'),
      t('A script that needs no key and calls tools like a model'),
    ],
    ['images', 'file-media', t('Images'), t('PNG, JPEG, GIF and WebP, each from its own tool')],
    ['audio', 'unmute', t('Audio'), t('A chord as WAV and a jingle as MP3')],
    ['documents', 'file-pdf', t('Documents'), t('A PDF, a ZIP, notes in Markdown and a link')],
    ['data', 'json', t('Structured Data'), t('Results as data, and arguments of all types')],
    [
      'mixed',
      'list-ordered',
      t('Text and Images in Order'),
      t('Blocks stay in the order in which the tool returned them'),
    ],
    [
      'trouble',
      'warning',
      t('When Things Go Wrong'),
      t('A tool that fails, a slow tool, and a tool that returns misleading text'),
    ],
  ];
}

export async function openSample(extension: vscode.Uri, name: string | undefined): Promise<boolean> {
  const samples = allSamples();
  const names = samples.map(([stem]) => stem);
  if (name !== undefined && !names.includes(name))
    throw new TypeError(vscode.l10n.t('There is no sample “{0}”. Samples: {1}.', name, names.join(', ')));
  const stem = name ?? (await pickSample(samples));
  if (stem === undefined) return false;
  const text = await readText(vscode.Uri.joinPath(extension, 'samples', `${stem}.chat.md`));
  return (await placeChat({ stem, text })) !== undefined;
}

async function pickSample(samples: readonly Sample[]): Promise<string | undefined> {
  const rows = samples.map(([name, icon, title, detail]) => ({
    label: `$(${icon}) ${title}`,
    detail,
    name,
  }));
  const row = await vscode.window.showQuickPick(rows, {
    title: vscode.l10n.t('Open Sample Chat'),
    placeHolder: vscode.l10n.t('Opens a copy as a new chat'),
    matchOnDetail: true,
  });
  return row?.name;
}
