import type { Message } from './script.ts';

/** What has come from the clients of a peer, and who waits for more of it. */
export class Inbox<Item extends { message: Message }> {
  readonly items: Item[] = [];
  readonly #looks = new Set<() => void>();

  put(item: Item): void {
    this.items.push(item);
    for (const look of this.#looks) look();
  }

  /** What came of this method, the oldest first. */
  of(method: string): Item[] {
    return this.items.filter(({ message }) => message.method === method);
  }

  methods(): string[] {
    return this.items.flatMap(({ message }) => message.method ?? []);
  }

  /** Resolves once so many of this method have come; the last of them. */
  until(method: string, times = 1): Promise<Item> {
    return new Promise((resolve) => {
      const look = (): void => {
        const last = this.of(method)[times - 1];
        if (last === undefined) return;
        this.#looks.delete(look);
        resolve(last);
      };
      this.#looks.add(look);
      look();
    });
  }
}
