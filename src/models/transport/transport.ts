import type { Watchdog } from '../watchdog.ts';
import { createPool, type PoolOptions } from './pool.ts';
import { type Request, send } from './request.ts';
import { createStreamReceiver, type EventReader, type StreamEnd } from './stream.ts';
import { createTextReceiver, type TextResponse } from './text.ts';
import { WHEEL } from './wheel.ts';

/**
 * The way to model providers: every request of this module to a provider, or about one, takes it.
 *
 * Guarantees: no redirect is followed, because keys travel in headers of many names; no more is read than `BOUNDS`
 * allow, after decompression; a cancel is heeded at once and leaves no timer.
 *
 * @example
 * const transport = createTransport({ env: process.env });
 * await transport.stream({ url, headers, body }, reader, watchdog);
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

/** What the settings are by default. */
export const TRANSPORT_DEFAULTS = { keepAliveSeconds: 300, connections: 512 } as const;

export const createTransport = (options: TransportOptions = {}): Transport => {
  const wheel = options.wheel ?? WHEEL;
  const pool = createPool({ ...TRANSPORT_DEFAULTS, env: {}, ...options, wheel });
  const deps = { pool, wheel };
  return {
    stream: ({ url, headers, body }, reader, watchdog) =>
      send(
        deps,
        { method: 'POST', url, headers: { 'content-type': 'application/json', ...headers }, body },
        createStreamReceiver(reader, watchdog),
        watchdog.signal,
      ),
    text: ({ most, signal, ...request }) => send(deps, request, createTextReceiver(most), signal),
    close: pool.close,
  };
};
