import * as vscode from 'vscode';
import { placeChat } from '../chat/chatFiles.ts';

interface Sample {
  /** The name of the file in samples/ and of the new chat. */
  readonly name: string;
  readonly icon: string;
  readonly title: string;
  readonly about: string;
}

/** They need no API key, no network and only the bundled server. */
function allSamples(): readonly Sample[] {
  const { t } = vscode.l10n;
  return [
    {
      name: 'tour',
      icon: 'rocket',
      title: t('A First Tool'),
      about: t('One call that returns text, an image, a sound and a PDF'),
    },
    {
      name: 'hello',
      icon: 'comment-discussion',
      title: t('A First Conversation'),
      about: t('The tour answers: a script that needs no key and drives tools as a model would'),
    },
    {
      name: 'pictures',
      icon: 'file-media',
      title: t('Pictures'),
      about: t('PNG, JPEG, GIF and WebP, each from a tool of its own'),
    },
    { name: 'sounds', icon: 'unmute', title: t('Sounds'), about: t('A chord as WAV and a jingle as MP3') },
    {
      name: 'documents',
      icon: 'file-pdf',
      title: t('Documents'),
      about: t('A PDF, a ZIP, notes in Markdown and a link'),
    },
    {
      name: 'data',
      icon: 'json',
      title: t('Structured Data'),
      about: t('Results as data, and arguments of every kind'),
    },
    {
      name: 'mixed',
      icon: 'list-ordered',
      title: t('Text and Images in Order'),
      about: t('Blocks stay in the order in which the tool returned them'),
    },
    {
      name: 'trouble',
      icon: 'warning',
      title: t('When Things Go Wrong'),
      about: t('A tool that fails, one that is slow, and one that tries to deceive'),
    },
  ];
}

export async function openSample(extension: vscode.Uri, name: string | undefined): Promise<boolean> {
  const samples = allSamples();
  const sample = name === undefined ? await pickSample(samples) : samples.find((each) => each.name === name);
  if (!sample) {
    if (name === undefined) return false;
    const names = samples.map((each) => each.name).join(', ');
    throw new TypeError(vscode.l10n.t('There is no sample “{0}”: {1}.', name, names));
  }
  const file = vscode.Uri.joinPath(extension, 'samples', `${sample.name}.chat.md`);
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  return (await placeChat({ stem: sample.name, text })) !== undefined;
}

async function pickSample(samples: readonly Sample[]): Promise<Sample | undefined> {
  const rows = samples.map((sample) => ({
    label: `$(${sample.icon}) ${sample.title}`,
    detail: sample.about,
    sample,
  }));
  const row = await vscode.window.showQuickPick(rows, {
    title: vscode.l10n.t('Open Sample Chat'),
    placeHolder: vscode.l10n.t('A copy of it becomes a chat of your own'),
    matchOnDetail: true,
  });
  return row?.sample;
}
