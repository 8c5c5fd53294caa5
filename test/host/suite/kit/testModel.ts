import * as vscode from 'vscode';

export type Reply = (
  parts: vscode.Progress<vscode.LanguageModelResponsePart>,
  token: vscode.CancellationToken,
) => Promise<void>;

export interface Asked {
  readonly messages: readonly vscode.LanguageModelChatRequestMessage[];
  readonly options: vscode.ProvideLanguageModelChatResponseOptions;
}

/** A language model of the editor whose replies a test decides. The bridge extension declares its vendor. */
export class TestModel implements vscode.LanguageModelChatProvider, vscode.Disposable {
  static readonly vendor = 'filechat-test';
  reply: Reply = async () => undefined;
  readonly asked: Asked[] = [];
  readonly #registered = vscode.lm.registerLanguageModelChatProvider(TestModel.vendor, this);

  dispose(): void {
    this.#registered.dispose();
  }

  provideLanguageModelChatInformation(): vscode.LanguageModelChatInformation[] {
    const sizes = { maxInputTokens: 10_000, maxOutputTokens: 1_000, version: '1' };
    return [
      {
        id: 'echo-1',
        name: 'Echo',
        family: 'echo',
        ...sizes,
        capabilities: { imageInput: true, toolCalling: true },
      },
    ];
  }

  async provideLanguageModelChatResponse(
    _model: vscode.LanguageModelChatInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    this.asked.push({ messages, options });
    await this.reply(progress, token);
  }

  async provideTokenCount(
    _model: vscode.LanguageModelChatInformation,
    text: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    return typeof text === 'string' ? text.length : 0;
  }
}
