/**
 * The servers that the user need not be asked about, for as long as the editor runs. They are known by their
 * fingerprints, so that another one of the same name gets no old consent; one without a fingerprint is nobody's.
 */
export class AlwaysServers {
  readonly #prints = new Set<string>();

  has(print: string): boolean {
    return this.#prints.has(print);
  }

  add(print: string): void {
    if (print !== '') this.#prints.add(print);
  }

  clear(): void {
    this.#prints.clear();
  }
}
