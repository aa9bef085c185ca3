/** The blocks of an event stream, as they come: what stands between two empty lines. */
export type Blocks = {
  status: number;
  headers: Headers;
  /** Undefined once the stream has ended. */
  next(): Promise<string | undefined>;
  /** Everything so far. */
  raw(): string;
  close(): Promise<void>;
};

export const readBlocks = (response: Response): Blocks => {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let raw = '';
  let unread = '';
  return {
    status: response.status,
    headers: response.headers,
    async next() {
      for (;;) {
        const end = unread.indexOf('\n\n');
        if (end >= 0) {
          const block = unread.slice(0, end);
          unread = unread.slice(end + 2);
          return block;
        }
        const chunk = await reader?.read();
        if (!chunk || chunk.done) return undefined;
        const text = decoder.decode(chunk.value, { stream: true });
        raw += text;
        unread += text;
      }
    },
    raw: () => raw,
    close: async () => reader?.cancel(),
  };
};
