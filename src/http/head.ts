import type { WireRequest } from './wire.ts';

/** The head of a request, which outlives the callback of the request. */
export type Head = {
  /** Lower case. */
  readonly method: string;
  /** The path as it was sent, without the query. */
  readonly path: string;
  /** Without its question mark. */
  readonly query: string | undefined;
  /** In their order, with lower-case names. */
  readonly headers: readonly Header[];
};

export type Header = readonly [name: string, value: string];

export const readHead = (req: WireRequest): Head => {
  const headers: Header[] = [];
  req.forEach((name, value) => {
    headers.push([name, value]);
  });
  return { method: req.getMethod(), path: req.getUrl(), query: req.getQuery(), headers };
};

export const requestOf = ({ method, path, query, headers }: Head): WireRequest => ({
  getMethod: () => method,
  getUrl: () => path,
  getQuery: () => query,
  getHeader: (name) => headers.find(([each]) => each === name)?.[1] ?? '',
  forEach(listener) {
    for (const [name, value] of headers) listener(name, value);
  },
});

/** Returns the values of all lines of a header. */
export const linesOf = ({ headers }: Pick<Head, 'headers'>, name: string): string[] =>
  headers.flatMap(([each, value]) => (each === name ? [value] : []));
