import type { MadeFile } from '../ports/models.ts';
import type { Asset, AssetKind, AssetPart, NewAsset, ProblemPart, ResultAssets } from '../ports/results.ts';
import { DEFAULT_LIMITS } from '../result/process.ts';
import { MadeFileSaver, reportingLargeFiles, type SaveLimits } from '../result/saveBytes.ts';
import type { ToolCallDeps } from './permission.ts';

export interface MadeFileDeps extends Pick<ToolCallDeps, 'assets' | 'onLargeFiles'> {
  readonly limits?: (() => SaveLimits) | undefined;
}

export interface PartialFile {
  readonly part: AssetPart;
  /** No other version will replace it. */
  keep(): void;
  remove(): Promise<void>;
}

/** The files that the model makes in one reply, over all attempts at it. */
export class MadeFiles {
  readonly #deps: MadeFileDeps;
  readonly #saver: MadeFileSaver;
  #assets: ResultAssets | undefined;
  #model = '';
  readonly #counts = new Map<AssetKind, number>();
  /** The files of the reply that this attempt continues, without those that it has repeated. */
  #known: ReadonlySet<string> = new Set();
  readonly #saved = new Set<string>();

  constructor(deps: MadeFileDeps) {
    this.#deps = deps;
    this.#saver = this.#saverOf((asset) => this.#store(asset));
  }

  #saverOf(save: ResultAssets['save']): MadeFileSaver {
    const { limits = () => DEFAULT_LIMITS } = this.#deps;
    return new MadeFileSaver({ spillFolder: (failure) => this.#own().spillFolder(failure), save }, limits());
  }

  get paths(): readonly string[] {
    return [...this.#saved];
  }

  /** Begins an attempt, which continues a reply with these files. */
  begin(model: string, files: readonly Asset[]): void {
    this.#model = model;
    this.#known = new Set(files.map(({ path }) => path));
    for (const { kind, number } of files) this.#count(kind, number);
  }

  /** Resolves to undefined for a file that a continued reply repeats. */
  async save(file: MadeFile, signal?: AbortSignal): Promise<AssetPart | ProblemPart | undefined> {
    const part = await this.#saver.save(file, signal);
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

  /** Saves a file that its next version replaces. Resolves to undefined if that is not possible. */
  async savePartial(file: MadeFile, signal?: AbortSignal): Promise<PartialFile | undefined> {
    // Of its own, so that the names of the files that stay sort in their order.
    const own = this.#begin();
    const part = await this.#saverOf((asset) => own.save({ ...asset, isPartial: true })).save(file, signal);
    if (part.kind !== 'asset') return undefined;
    const { kind, number, path } = part.asset;
    const keep = () => {
      this.#count(kind, number);
      this.#saved.add(path);
      // Its number is taken.
      this.#assets = undefined;
    };
    return { part, keep, remove: async () => own.removePartial?.(path) };
  }

  #own(): ResultAssets {
    this.#assets ??= this.#begin();
    return this.#assets;
  }

  #begin(): ResultAssets {
    return this.#deps.assets.beginResult({ maker: 'model', counts: this.#counts });
  }

  #store(asset: NewAsset): ReturnType<ResultAssets['save']> {
    const report = (large: string) => this.#deps.onLargeFiles?.(this.#model, large);
    return reportingLargeFiles({ beginResult: () => this.#own() }, report, (saving) => saving.save(asset));
  }

  #count(kind: AssetKind, number: number): void {
    this.#counts.set(kind, Math.max(number, this.#counts.get(kind) ?? 0));
  }
}
