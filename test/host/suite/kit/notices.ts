import * as vscode from 'vscode';
import { until } from '../../../kit/until.ts';

const ANSWER = /^filechat\.answer\.(\d+)\.\d+$/;

/** The questions in notifications, whose answers are commands. */
export class Notices {
  /** The question that was answered last: its answers are there until it is closed. */
  #answered = 0;

  /** Waits for the next question that has this many answers. */
  async asked(count: number): Promise<readonly string[]> {
    let answers: readonly string[] = [];
    await until(async () => {
      answers = await this.#next();
      return answers.length === count;
    });
    return answers;
  }

  /** Waits for the next question with this many answers, and gives one of them. */
  async answer(at: number, count: number): Promise<void> {
    const id = (await this.asked(count))[at] ?? '';
    this.#answered = numberOf(id);
    await vscode.commands.executeCommand(id);
  }

  /** Waits until no question is open. */
  async none(): Promise<void> {
    await until(async () => (await this.#next()).length === 0);
  }

  async #next(): Promise<readonly string[]> {
    return (await vscode.commands.getCommands(true)).filter((id) => numberOf(id) > this.#answered).sort();
  }
}

function numberOf(command: string): number {
  return Number(ANSWER.exec(command)?.[1] ?? 0);
}
