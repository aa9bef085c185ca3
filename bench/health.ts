import { get } from 'node:http';
import { createServer } from 'node:net';
import type { Child } from './child.ts';

/** Waiting for a server that is starting. */

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

const isHealthy = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    get(address, { agent: false }, (response) => {
      response.resume().on('close', () => resolve(response.statusCode === 200));
    }).on('error', () => resolve(false));
  });

/** Asks every millisecond until it is ready. @throws Error when the process ends instead */
export const untilHealthy = async (child: Child, url: string, path = '/health'): Promise<void> => {
  let ended = false;
  const exited = child.exited.then(() => {
    ended = true;
  });
  while (!(await isHealthy(url + path))) {
    // It rejects with what the process has printed.
    if (ended) await child.line(/never printed/);
    await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 1))]);
  }
};
