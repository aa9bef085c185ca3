import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports for servers that start later or again, which no other process may take before. The system chooses the ports of
 * other servers and of outgoing connections from a higher range, and each process of the tests has its own part of this
 * one.
 */
const FIRST = 20_000;
const PROCESSES = 500;
const PORTS_OF_PROCESS = 24;

let taken = 0;

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
};

export const freePort = async (): Promise<number> => {
  const first = FIRST + (process.pid % PROCESSES) * PORTS_OF_PROCESS;
  for (;;) {
    const port = first + (taken % PORTS_OF_PROCESS);
    taken += 1;
    if (await isFree(port)) return port;
  }
};
