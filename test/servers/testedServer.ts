import type { Arguments } from '../integration/helpers/serving.ts';
import type { Place } from './place.ts';

export interface TestedServer {
  /** The name of the package. */
  readonly name: string;
  readonly version: string;
  readonly args?: (place: Place) => readonly string[];
  readonly env?: (place: Place) => Readonly<Record<string, string>>;
  /** Only tools that need nothing beyond loopback. */
  readonly calls: (place: Place) => readonly Call[];
  readonly note?: string;
}

export type Call = readonly [tool: string, args?: Arguments];
