/**
 * A bounded map of recently used values.
 *
 * Guarantees: at most `size` values; the least recently used ones are removed, to the precision of half of the size.
 * Cost: a lookup of a value in use is one read of a map. Values are moved only when the newer half is full, so that the
 * order of use costs no writes.
 */
export type Recent<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  remove(key: string): void;
};

export const createRecent = <Value>(size: number): Recent<Value> => {
  let newer = new Map<string, Value>();
  let older = new Map<string, Value>();

  const set = (key: string, value: Value): void => {
    newer.set(key, value);
    if (newer.size < size / 2) return;
    older = newer;
    newer = new Map();
  };

  return {
    get(key) {
      const found = newer.get(key);
      if (found !== undefined) return found;
      const before = older.get(key);
      if (before !== undefined) set(key, before);
      return before;
    },
    set,
    remove(key) {
      newer.delete(key);
      older.delete(key);
    },
  };
};
