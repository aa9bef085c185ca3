/** Places where something inside the service waits until the test lets it go on, in the order of arrival. */

export type Gates = {
  /** Rejects with `cancelled` once the signal fires. Answers what the test said when it opened the gate. */
  wait(signal: AbortSignal | undefined, cancelled: () => Error): Promise<boolean>;
  size(): number;
  /** Lets one go on, well or not. */
  open(which: number, well: boolean): void;
  /** Nothing waits any more, and nothing of it goes on. */
  clear(): void;
};

export const createGates = (): Gates => {
  let gates: ((well: boolean) => void)[] = [];
  return {
    wait: (signal, cancelled) =>
      new Promise((resolve, reject) => {
        const open = (well: boolean): void => {
          gates = gates.filter((other) => other !== open);
          resolve(well);
        };
        gates.push(open);
        signal?.addEventListener('abort', () => {
          gates = gates.filter((other) => other !== open);
          reject(cancelled());
        });
      }),
    size: () => gates.length,
    open: (which, well) => gates[which % gates.length]?.(well),
    clear() {
      gates = [];
    },
  };
};
