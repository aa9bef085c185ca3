import type { Watchdog } from '../watchdog.ts';
import type { PoolOptions } from './pool.ts';
import type { Request } from './request.ts';
import type { EventReader, StreamEnd } from './stream.ts';
import type { TextResponse } from './text.ts';

/**
 * The HTTP client for model providers: every request of this module to or about a provider uses it.
 *
 * Guarantees: no redirect is followed, because keys are sent in headers of many names; no more data is read than
 * `BOUNDS` allow, after decompression; a cancel takes effect immediately and leaves no timer.
 */
export type Transport = {
  /** Rejects with a `ModelError`, or with the error that the reader throws. */
  stream(request: StreamRequest, reader: EventReader, watchdog: Watchdog): Promise<StreamEnd>;
  /** Rejects with the reason of the signal, with `UnreadableBody`, or with an error whose cause has the details. */
  text(request: TextRequest): Promise<TextResponse>;
  close(): Promise<void>;
};

export type StreamRequest = { url: string; headers: Readonly<Record<string, string>>; body: Buffer };

export type TextRequest = Omit<Request, 'body'> & {
  body?: string;
  /** Maximum bytes of the body; 0 if only the status matters. */
  most: number;
  signal: AbortSignal;
};

export type TransportOptions = Partial<PoolOptions>;
