import type { Got } from './http.ts';

/** The blocks of an event stream, which are separated by blank lines. */
export type Blocks = {
  status: number;
  headers: Headers;
  /** Undefined once the stream has ended. */
  next(): Promise<string | undefined>;
  /** Everything received so far. */
  raw(): string;
  close(): Promise<void>;
};

export const readBlocks = ({ status, headers, read, leave }: Got): Blocks => {
  let raw = '';
  let unread = '';
  return {
    status,
    headers,
    async next() {
      for (;;) {
        const end = unread.indexOf('\n\n');
        if (end >= 0) {
          const block = unread.slice(0, end);
          unread = unread.slice(end + 2);
          return block;
        }
        const text = await read();
        if (text === undefined) return undefined;
        raw += text;
        unread += text;
      }
    },
    raw: () => raw,
    close: async () => leave(),
  };
};
