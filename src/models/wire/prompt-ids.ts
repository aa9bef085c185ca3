import { createHash } from 'node:crypto';

/** The ids of calls in a form that every provider accepts. */

const LONGEST_ID = 64;
const LEGAL_ID = /^[A-Za-z0-9_-]{1,64}$/;
const HASH_LENGTH = 12;
/** Characters of an id that are kept readable. An expression on a longer text can exhaust the stack. */
const MOST_READ = 1024;

/** Maps ids deterministically and without collisions, because many providers reject the ids of other services. */
export const idForModel = (id: string): string => {
  if (LEGAL_ID.test(id)) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH_LENGTH);
  const readable = id.slice(0, MOST_READ).replaceAll(/[^A-Za-z0-9_-]+/g, '_');
  return `${readable.slice(0, LONGEST_ID - HASH_LENGTH - 1)}_${hash}`;
};

export type UniqueIds = {
  /** Returns the id, with a number if it was added before. */
  add(id: string): string;
};

/** Some providers number the calls of each completion from zero, and others reject a repeated id. */
export const createUniqueIds = (): UniqueIds => {
  /** The last number of each id; all numbers before it are in use. */
  const used = new Map<string, number>();
  return {
    add(given) {
      let id = given;
      let count = used.get(given) ?? 1;
      while (used.has(id)) {
        count += 1;
        id = `${given.slice(0, LONGEST_ID - 8)}_${count}`;
      }
      used.set(given, count);
      if (id !== given) used.set(id, 1);
      return id;
    },
  };
};
