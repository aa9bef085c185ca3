import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Test } from 'tap';

/** A gate that models of the service wait at. It lives in the test, so it outlives every process. */
export type Gate = {
  url: string;
  /** The number of waiting models. */
  waiting(): number;
  /**
   * Resolves when this many are waiting; `among`: counts only those. Rejects when the number does not change for too
   * long.
   */
  until(count: number, among?: ReadonlySet<string>): Promise<void>;
  /** The maximum number that waited at the same time. */
  most(): number;
  /** Releases all waiting models and all later ones. */
  open(): void;
};

/** Far longer than any wait of the service: leases are 30 s. */
const PATIENCE_MS = 90_000;

export const startGate = async (t: Test): Promise<Gate> => {
  const held = new Map<ServerResponse, string>();
  const watching = new Set<() => void>();
  let isOpen = false;
  let most = 0;
  const changed = (): void => {
    most = Math.max(most, held.size);
    for (const look of watching) look();
  };
  const server = createServer((request, response) => {
    if (isOpen) {
      response.end('go');
      return;
    }
    held.set(response, (request.url ?? '').slice(1));
    response.once('close', () => {
      held.delete(response);
      changed();
    });
    changed();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a port was expected');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${address.port}`,
    waiting: () => held.size,
    until: (count, among) =>
      new Promise((resolve, reject) => {
        const impatient = setTimeout(() => {
          watching.delete(look);
          reject(new Error(`${held.size} wait at the gate, not ${count}`));
        }, PATIENCE_MS);
        const look = (): void => {
          impatient.refresh();
          const waiting = among ? [...held.values()].filter((name) => among.has(name)).length : held.size;
          if (waiting !== count) return;
          watching.delete(look);
          clearTimeout(impatient);
          resolve();
        };
        watching.add(look);
        look();
      }),
    most: () => most,
    open() {
      isOpen = true;
      for (const response of held.keys()) response.end('go');
    },
  };
};
