/** The handling of a marker without a stored value: it is kept, so that a check rejects it, or the value is dropped. */
export type Unknown = 'keep' | 'drop';

/** Returns the values of each key in order, because a name may occur several times. */
export const queues = (
  pairs: readonly { key: string; value: string }[],
): ((key: string) => string | undefined) => {
  const queued = new Map<string, { values: string[]; taken: number }>();
  for (const { key, value } of pairs) {
    const queue = queued.get(key);
    if (queue) queue.values.push(value);
    else queued.set(key, { values: [value], taken: 0 });
  }
  return (key) => {
    const queue = queued.get(key);
    if (!queue) return undefined;
    queue.taken += 1;
    return queue.values[queue.taken - 1];
  };
};
