import type { MadeFile } from '../ports/models.ts';
import type { Asset, AssetKind, AssetPart, ProblemPart, ResultAssets } from '../ports/results.ts';
import { reportingLargeFiles } from '../result/largeFiles.ts';
import { DEFAULT_LIMITS } from '../result/process.ts';
import type { SaveLimits } from '../result/saveBytes.ts';
import { saveMade } from '../result/saveMade.ts';
import type { ToolCallDeps } from './permission.ts';

export interface MadeFileDeps extends Pick<ToolCallDeps, 'assets' | 'onLargeFiles'> {
  readonly limits?: (() => SaveLimits) | undefined;
}

/** Saves the files that the model makes in one reply, over all attempts at it. */
export class MadeFiles {
  readonly #deps: MadeFileDeps;
  #assets: ResultAssets | undefined;
  readonly #counts = new Map<AssetKind, number>();
  /** The files of the interrupted reply that is continued, without those that it has repeated. */
  #known: ReadonlySet<string> = new Set();
  readonly #saved = new Set<string>();

  constructor(deps: MadeFileDeps) {
    this.#deps = deps;
  }

  get paths(): readonly string[] {
    return [...this.#saved];
  }

  /** Begins an attempt, which continues a reply with these files. */
  begin(files: readonly Asset[]): void {
    this.#known = new Set(files.map(({ path }) => path));
    for (const { kind, number } of files) this.#count(kind, number);
  }

  /** Resolves to undefined for a file that a continued reply repeats. */
  async save(
    file: MadeFile,
    { model, signal }: { readonly model: string; readonly signal?: AbortSignal | undefined },
  ): Promise<AssetPart | ProblemPart | undefined> {
    const { assets, onLargeFiles, limits = () => DEFAULT_LIMITS } = this.#deps;
    const counts = this.#counts;
    this.#assets ??= assets.beginResult({ maker: 'model', counts });
    const own = this.#assets;
    const part = await reportingLargeFiles(
      { beginResult: () => own },
      (large) => onLargeFiles?.(model, large),
      (saving) => saveMade(file, saving, { limits: limits(), signal }),
    );
    if (part.kind !== 'asset') return part;
    const { kind, number, path } = part.asset;
    if (this.#known.has(path)) {
      this.#known = new Set([...this.#known].filter((each) => each !== path));
      // Its number is free again.
      this.#assets = undefined;
      return undefined;
    }
    this.#count(kind, number);
    this.#saved.add(path);
    return part;
  }

  #count(kind: AssetKind, number: number): void {
    this.#counts.set(kind, Math.max(number, this.#counts.get(kind) ?? 0));
  }
}
