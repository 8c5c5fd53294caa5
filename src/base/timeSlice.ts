/** How long a search may keep the event loop to itself. */
const MAX_SLICE_MS = 10;

/** Work on long texts asks this now and then, and pauses when others have waited long enough. */
export class TimeSlice {
  #since = performance.now();

  isOver(): boolean {
    return performance.now() - this.#since > MAX_SLICE_MS;
  }

  async pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
