import { Agent, request } from 'node:http';
import { BenchError } from './error.ts';
import type { Server } from './servers.ts';
import { threadsRan } from './usage.ts';

/** Requests that are not streams, on connections that stay open. */

export type Request = {
  method?: 'GET' | 'POST' | 'PUT';
  path: string;
  headers?: Record<string, string>;
  body?: string;
};

export type Requester = {
  /** Sends a request. @returns the body and the milliseconds until its end. @throws BenchError unless the status is 2xx */
  send(request: Request): Promise<{ text: string; ms: number }>;
  /** Sends requests on all connections. @returns microseconds of CPU time of the server for each of them */
  cost(count: number, requestOf: (index: number) => Request): Promise<number>;
  close(): void;
};

const MICROSECONDS = 1000;

export const createRequester = (server: Server, connections: number): Requester => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send: Requester['send'] = ({ method = 'GET', path, headers = {}, body }) => {
    const began = performance.now();
    return new Promise((resolve, reject) => {
      const sent = request(server.url + path, {
        agent,
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          const { statusCode: status = 0 } = response;
          if (status >= 200 && status < 300) resolve({ text, ms: performance.now() - began });
          else reject(new BenchError(`${server.name} answered ${status} at ${path}: ${text}`));
        });
      });
      sent.end(body);
    });
  };
  return {
    send,
    async cost(count, requestOf) {
      const before = threadsRan(server.process.pid);
      let next = 0;
      const work = async (): Promise<void> => {
        while (next < count) {
          const index = next;
          next += 1;
          await send(requestOf(index));
        }
      };
      await Promise.all(Array.from({ length: connections }, work));
      return ((threadsRan(server.process.pid) - before) * MICROSECONDS) / count;
    },
    close: () => agent.destroy(),
  };
};
