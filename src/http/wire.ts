/**
 * The parts of a request and a response that the pipeline uses. uWebSockets.js implements them directly; `fetch.ts`
 * adapts web-standard requests, and `node-exchange.ts` those of Node.
 *
 * The rules of uWebSockets.js apply: `WireRequest` is readable only during the callback of the request, header names
 * are lower case, a missing header is empty, and a response is not accessed after it has ended or was aborted.
 */
export type WireRequest = {
  getMethod(): string;
  /** The path as it was sent, without the query. */
  getUrl(): string;
  /** The query string without its question mark. */
  getQuery(): string | undefined;
  getHeader(name: string): string;
  /** Visits headers in their order; a header that was sent twice is visited twice. */
  forEach(listener: (name: string, value: string) => void): void;
};

export type WireResponse = {
  /** Whether `write` and `end` keep the bytes that they are given. uWebSockets.js copies them, and lacks the property. */
  readonly retains: true | undefined;
  /** Called when the client disconnects before the response has ended. */
  onAborted(listener: () => void): unknown;
  /** The chunk is valid only during the callback. */
  onData(listener: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  /** Stops `onData` until `resume`; a chunk may still arrive. */
  pause(): unknown;
  resume(): unknown;
  /** Called when a stalled reader accepts data again. */
  onWritable(listener: (offset: number) => boolean): unknown;
  /** Status code and reason phrase. */
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string | Uint8Array): unknown;
  /** Returns whether the reader accepts more data. */
  write(text: string | Uint8Array): boolean;
  end(text?: string | Uint8Array, closeConnection?: boolean): unknown;
  endWithoutBody(): unknown;
  cork(write: () => void): unknown;
  close(): unknown;
  getRemoteAddressAsText(): ArrayBuffer;
};
