import type { Watchdog } from '../watchdog.ts';
import type { PoolOptions } from './pool.ts';
import type { Request } from './request.ts';
import type { EventReader, StreamEnd } from './stream.ts';
import type { TextResponse } from './text.ts';

/**
 * The way to model providers: every request of this module to a provider, or about one, takes it.
 *
 * Guarantees: no redirect is followed, because keys travel in headers of many names; no more is read than `BOUNDS`
 * allow, after decompression; a cancel is heeded at once and leaves no timer.
 */
export type Transport = {
  /** Rejects with a `ModelError`, or with what the reader throws. */
  stream(request: StreamRequest, reader: EventReader, watchdog: Watchdog): Promise<StreamEnd>;
  /** Rejects with the reason of the signal, with `UnreadableBody`, or with an error whose cause says more. */
  text(request: TextRequest): Promise<TextResponse>;
  close(): Promise<void>;
};

export type StreamRequest = { url: string; headers: Readonly<Record<string, string>>; body: string };

export type TextRequest = Request & {
  /** Bytes of the body; 0 where only the status matters. */
  most: number;
  signal: AbortSignal;
};

export type TransportOptions = Partial<PoolOptions>;
