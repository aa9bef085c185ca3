/**
 * What the pipeline needs of a request and of its response. Those of uWebSockets.js are of this shape as they are;
 * `fetch.ts` makes them of a web-standard request.
 *
 * As there: `WireRequest` may be read inside the callback of the request only; header names are lower case, and a
 * header that is not there is empty; a response is not touched once it has ended or was aborted.
 */
export type WireRequest = {
  getMethod(): string;
  /** The path as it was sent, without the query. */
  getUrl(): string;
  /** Without its question mark. */
  getQuery(): string | undefined;
  getHeader(name: string): string;
  /** In their order; a header that was sent twice comes twice. */
  forEach(listener: (name: string, value: string) => void): void;
};

export type WireResponse = {
  /** Told when the client goes away before the response has ended. */
  onAborted(listener: () => void): unknown;
  /** The chunk is valid inside the callback only. */
  onData(listener: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  /** Told when a reader that took no more takes more again. */
  onWritable(listener: (offset: number) => boolean): unknown;
  /** Code and words. */
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string | Uint8Array): unknown;
  /** Whether the reader takes more. */
  write(text: string | Uint8Array): boolean;
  end(text?: string | Uint8Array, closeConnection?: boolean): unknown;
  endWithoutBody(): unknown;
  cork(write: () => void): unknown;
  close(): unknown;
  getRemoteAddressAsText(): ArrayBuffer;
};
