/** Parses the collections of a process from the output of `--trace-gc-nvp`. */
export type GcTrace = {
  /** Receives the output of the process, split at any position. */
  hear(printed: string): void;
};

/** One collection: `s` of the young generation, `ms` of the whole heap. A missing figure is NaN. */
export type Collection = { kind: string; figure(name: string): number };

export function createGcTrace(report: (collection: Collection) => void): GcTrace {
  let unread = '';
  return {
    hear(printed) {
      const lines = (unread + printed).split('\n');
      unread = lines.pop() ?? '';
      for (const line of lines) {
        const [, kind] = / gc=(\w+) /.exec(line) ?? [];
        if (kind === undefined) continue;
        const figure = (name: string): number =>
          Number(new RegExp(` ${name}=(\\d+)`).exec(line)?.[1] ?? Number.NaN);
        report({ kind, figure });
      }
    },
  };
}
