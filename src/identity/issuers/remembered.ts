import { createHash } from 'node:crypto';

/** Values of credentials by their SHA-256, at most `most`; the least recently used one is dropped. */
export type Remembered<T> = {
  get(credential: string): T | undefined;
  put(credential: string, value: T): void;
  remove(credential: string): void;
};

export const createRemembered = <T>(most: number): Remembered<T> => {
  /** Ordered by the last use, latest last. */
  const values = new Map<string, T>();
  return {
    get(credential) {
      const key = digest(credential);
      const value = values.get(key);
      if (value === undefined) return undefined;
      values.delete(key);
      values.set(key, value);
      return value;
    },
    put(credential, value) {
      values.set(digest(credential), value);
      const [oldest] = values.keys();
      if (values.size > most && oldest !== undefined) values.delete(oldest);
    },
    remove(credential) {
      values.delete(digest(credential));
    },
  };
};

const digest = (credential: string): string => createHash('sha256').update(credential).digest('base64');
