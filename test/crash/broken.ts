/** Broken promises, each recorded once, however often a check finds it. */

export type Kind =
  | 'lost'
  | 'doubled'
  | 'terminal'
  | 'running'
  | 'counter'
  | 'sequence'
  | 'events'
  | 'stream'
  | 'attempts'
  | 'decision'
  | 'kept'
  | 'push'
  | 'answer'
  | 'start';

export type Broken = {
  note(kind: Kind, text: string): void;
  /** Records a violation unless the values are equal. */
  same(kind: Kind, text: string, found: unknown, expected: unknown): void;
  all(): readonly string[];
  counts(): Record<string, number>;
};

export const createBroken = (): Broken => {
  const found = new Map<string, Kind>();
  const broken: Broken = {
    note: (kind, text) => void found.set(`${kind}: ${text}`, kind),
    same(kind, text, value, expected) {
      const [one, other] = [JSON.stringify(value), JSON.stringify(expected)];
      if (one !== other) broken.note(kind, `${text}: ${one}, not ${other}`);
    },
    all: () => [...found.keys()],
    counts() {
      const counts: Record<string, number> = {};
      for (const kind of found.values()) counts[kind] = (counts[kind] ?? 0) + 1;
      return counts;
    },
  };
  return broken;
};
