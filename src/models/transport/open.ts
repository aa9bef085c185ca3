import { createPool } from './pool.ts';
import { send } from './request.ts';
import { createStreamReceiver } from './stream.ts';
import { createTextReceiver } from './text.ts';
import type { Transport, TransportOptions } from './types.ts';
import { WHEEL } from './wheel.ts';

const DEFAULTS = { keepAliveSeconds: 300, connections: 512 } as const;

/** Connects the parts of the transport; `types.ts` documents its guarantees. */
export const openTransport = (options: TransportOptions): Transport => {
  const wheel = options.wheel ?? WHEEL;
  const pool = createPool({ ...DEFAULTS, env: {}, ...options, wheel });
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
