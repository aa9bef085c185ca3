import { get } from 'node:http';
import { createServer } from 'node:net';
import type { Child } from './child.ts';

/** Waits for a starting server. */

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

/** Polls every millisecond until the server is ready. @throws Error if the process ends first */
export const untilHealthy = async (child: Child, url: string, path = '/health'): Promise<void> => {
  let ended = false;
  const exited = child.exited.then(() => {
    ended = true;
  });
  while (!(await isHealthy(url + path))) {
    // This rejects with the output of the process.
    if (ended) await child.line(/never printed/);
    await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 1))]);
  }
};
