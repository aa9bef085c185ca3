/** What becomes of a marker for which nothing is stored: it stays, for a check to refuse, or what it stands for goes. */
export type Unknown = 'keep' | 'drop';

/** The values of each key, one after the other: a name may be there several times. */
export const queues = (
  pairs: readonly { key: string; value: string }[],
): ((key: string) => string | undefined) => {
  const left = new Map<string, { values: string[]; taken: number }>();
  for (const { key, value } of pairs) {
    const queue = left.get(key);
    if (queue) queue.values.push(value);
    else left.set(key, { values: [value], taken: 0 });
  }
  return (key) => {
    const queue = left.get(key);
    if (!queue) return undefined;
    queue.taken += 1;
    return queue.values[queue.taken - 1];
  };
};
