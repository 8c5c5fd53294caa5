import * as vscode from 'vscode';
import { CHARS_PER_TOKEN } from '../../base/size.ts';
import { fence } from '../../chat/format/fence.ts';
import { readSettings, setFrontMatter } from '../../chat/format/frontMatter.ts';
import { parseChat } from '../../chat/format/parse.ts';
import { failedBy } from '../../loop/document.ts';
import { PRESETS } from '../../model/config/presets.ts';
import { costOf } from '../../model/config/prices.ts';
import { isSdkProvider } from '../../model/providers/wire.ts';
import { calibrate, estimateRequest } from '../../model/request/estimate.ts';
import type { ModelRequest, Usage } from '../../ports/models.ts';
import { chatName, findChat, withChat } from '../chat/chatFiles.ts';
import { editDocument } from '../chat/editorDocument.ts';
import { latestUri } from '../chat/renames.ts';
import type { Conversations } from '../run/conversations.ts';
import type { NextRequest } from '../run/costText.ts';
import { defaultModel } from '../settings.ts';
import { readFields, readString, readUri } from '../ui/commandArguments.ts';
import { failed, focusChat, tell } from '../ui/outcomes.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { saveAsDefault } from './choice.ts';
import { forgetLimits } from './editorLimits.ts';
import type { EditorModels } from './editorModels.ts';

/** The commands for models, and estimates of requests. */
export class ModelCommands implements vscode.Disposable {
  readonly #models: EditorModels;
  readonly #conversations: Conversations;
  readonly #view = new RequestView();
  /** The last count of a provider, relative to the estimate. */
  #factor = 1;

  constructor(models: EditorModels, conversations: Conversations) {
    this.#models = models;
    this.#conversations = conversations;
  }

  dispose(): void {
    this.#view.dispose();
  }

  /** Selects the model of the chat, or without a chat the default model. */
  async select(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    const document = await findChat(fields);
    const named = document ? settingsOf(document).model : undefined;
    const question = document
      ? vscode.l10n.t('Which model should answer in this chat?')
      : vscode.l10n.t('Which model should answer in chats that do not specify one?');
    const name =
      readString(fields, 'model') ??
      (await this.#models.choose(question, {
        current: named ?? defaultModel(),
        offersTour: document !== undefined,
      }));
    if (name === undefined) return;
    if (!document) await saveAsDefault({ kind: 'name', name }, this.#models.configured());
    else if (name !== named) await this.#nameModel(document.uri, name);
  }

  /** The chat may have been renamed while the user was choosing. */
  async #nameModel(chat: vscode.Uri, name: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(latestUri(chat));
    // Retries: while a reply is being written, the editor can refuse an edit.
    await editDocument(document, (text) => setFrontMatter(text, 'model', name));
  }

  /** Asks for what the next request of the chat still needs. Resolves to false if the user cancels. */
  async prepare(document: vscode.TextDocument): Promise<boolean> {
    const name = await this.#conversations.of(document.uri).modelName(document.getText());
    return this.#models.prepare(name, document);
  }

  async setKey(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    const document = await findChat(fields);
    const wanted = readString(fields, 'model');
    const used = document && settingsOf(document).model;
    const isUsed = used !== undefined && this.#models.keyOwner(used) !== undefined;
    const name = wanted ?? (isUsed ? used : await this.#pickKeyOwner());
    if (name === undefined) return;
    const owner = this.#models.keyOwner(name);
    if (!owner) tell(failed(vscode.l10n.t('There is no model “{0}” that uses a key.', plainMessage(name))));
    else if (await this.#models.askKey(owner)) void this.#tellSaved(owner.label, readUri(fields, 'uri'));
  }

  /** `chat` is the one whose run needed the key. */
  async #tellSaved(label: string, chat: vscode.Uri | undefined): Promise<void> {
    const [run, select] = [vscode.l10n.t('Run'), vscode.l10n.t('Select Model…')];
    const message = vscode.l10n.t('The key for {0} was saved.', plainMessage(label));
    // With a model, the next run uses the key.
    const others = this.#models.configOf(undefined) ? [] : [select];
    const answer = await vscode.window.showInformationMessage(message, ...(chat ? [run] : others));
    if (chat && answer === run) await focusChat(chat);
    if (answer === run) await vscode.commands.executeCommand('filechat.run', { uri: chat });
    if (answer === select) await vscode.commands.executeCommand('filechat.selectModel');
  }

  /** A configured model, or a provider, whose key serves all of its models. */
  async #pickKeyOwner(): Promise<string | undefined> {
    const configured = [...this.#models.configured().values()].filter(({ provider }) =>
      isSdkProvider(provider),
    );
    const items = [
      ...PRESETS.map(({ id, label }) => ({
        label,
        description: vscode.l10n.t('all models of this provider'),
        name: id,
      })),
      ...configured.map(({ name }) => ({ label: plainMessage(name), name })),
    ];
    const picked = await vscode.window.showQuickPick(items, {
      title: vscode.l10n.t('Filechat: Set API Key'),
      placeHolder: vscode.l10n.t('Select the model or provider of the key'),
    });
    return picked?.name;
  }

  forgetLimits(argument: unknown): Promise<void> {
    return forgetLimits(this.#models.limits, argument);
  }

  /** Shows the exact request without sending it. */
  async showRequest(argument: unknown): Promise<void> {
    const show = async (document: vscode.TextDocument) => {
      try {
        if (!(await this.prepare(document))) return;
        await withNotice(vscode.l10n.t('Preparing the request'), (signal) =>
          this.#showRequest(document, signal),
        );
      } catch (error) {
        const again = { title: '', command: 'filechat.showRequest', arguments: [{ uri: document.uri }] };
        tell(failedBy(error), { uri: document.uri, again });
      }
    };
    await withChat(argument, show, { trust: true });
  }

  async #showRequest(document: vscode.TextDocument, signal: AbortSignal): Promise<void> {
    const { model, request, notes } = await this.#conversations
      .of(document.uri)
      .prepare(document.getText(), signal);
    const { total, system, history, tools, attachments } = estimateRequest(request);
    const corrected = [total, system, history, tools, attachments].map((count) =>
      Math.round(count * this.#factor),
    );
    const head = [
      `# ${vscode.l10n.t('Next Request to {0}', model.name)}`,
      vscode.l10n.t(
        'About {0} tokens: system {1}, history {2}, tools {3}, attachments {4}. Keys and binary data are left out.',
        ...corrected,
      ),
      ...notes.map((note) => `> ${note}`),
    ];
    const preview = (await model.preview(request)).trimEnd();
    signal.throwIfAborted();
    const body = fence(preview, preview.startsWith('{') ? 'json' : 'http');
    await this.#view.show(document.uri, `${head.join('\n\n')}\n\n${body}\n`);
  }

  /** Estimates the next request without sending anything. */
  async estimate(document: vscode.TextDocument, signal: AbortSignal): Promise<NextRequest | undefined> {
    const tokens = Math.round((await this.#countTokens(document, signal)) * this.#factor);
    const name = settingsOf(document).model;
    const facts = await this.#models.factsOf(name);
    return {
      tokens,
      model: this.#models.configOf(name)?.name,
      dollars: costOf({ input: tokens }, facts?.price),
    };
  }

  /** Very long chats get a rough estimate, because this runs after every pause in typing. */
  async #countTokens(document: vscode.TextDocument, signal: AbortSignal): Promise<number> {
    const text = document.getText();
    if (text.length > MAX_COUNTED_CHARS) return text.length / CHARS_PER_TOKEN;
    const { request } = await this.#conversations.dryRun(document.uri).prepare(text, signal);
    return estimateRequest(request).total;
  }

  /** Corrects later estimates by the provider's count. */
  calibrate(usage: Usage, request: ModelRequest): void {
    if (usage.input !== undefined) this.#factor = calibrate(estimateRequest(request).total, usage.input);
  }
}

const MAX_COUNTED_CHARS = 1_000_000;

function settingsOf(document: vscode.TextDocument) {
  return readSettings(parseChat(document.getText())).settings;
}

const SCHEME = 'filechat-request';

class RequestView implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #contents = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: vscode.Disposable;

  constructor() {
    this.#subscriptions = vscode.Disposable.from(
      this.#changed,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#contents.delete(uri.toString())),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#contents.get(uri.toString()) ?? '';
  }

  /** Replaces the request that is shown for the same chat. */
  async show(chat: vscode.Uri, markdown: string): Promise<void> {
    const path = `/${vscode.l10n.t('Request of {0}', chatName(chat))}.md`;
    const uri = vscode.Uri.from({ scheme: SCHEME, path, query: chat.toString() });
    this.#contents.set(uri.toString(), markdown);
    this.#changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  }
}
