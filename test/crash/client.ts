import { Agent, type IncomingMessage, request } from 'node:http';
import type { z } from 'zod';
import { ADMIN } from './process.ts';

/**
 * A client that records responses: a response counts only if its body is complete. An interrupted request has no
 * response, and may or may not have been executed.
 */

export type Answer = { status: number; body: unknown; text: string };

export type Frame = { id: string | undefined; data: Record<string, unknown> };

export type Streamed = {
  /** Undefined: no head was received. */
  status: number | undefined;
  /** Whether the body is complete. */
  whole: boolean;
};

export type Client = {
  /** Undefined: interrupted. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer | undefined>;
  /** Follows a stream to its end, or until `frame` returns false. */
  follow(request: Follow): Promise<Streamed>;
  /** Reads a path. @throws unless the response is 200 and of this shape */
  read<Shape extends z.ZodType>(path: string, shape: Shape): Promise<z.output<Shape>>;
};

export type Follow = {
  method?: string;
  path: string;
  body?: unknown;
  head?(status: number): void;
  /** Return false to stop. */
  frame(frame: Frame): boolean;
  signal?: AbortSignal;
};

type Asked = { method: string; path: string; body?: unknown; headers?: object; signal?: AbortSignal };

export const createClient = (url: string): Client => {
  const agent = new Agent({ keepAlive: true, maxSockets: 512 });

  const open = (asking: Asked, took: (response: IncomingMessage) => void, failed: () => void): void => {
    const { method, path, body, headers, signal } = asking;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const asked = request(
      url + path,
      {
        method,
        agent,
        signal,
        headers: {
          ...(text !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
          }),
          ...headers,
        },
      },
      took,
    );
    asked.once('error', () => {
      // The server may close an idle connection just when a request reuses it; repeating a read is safe.
      if (method === 'GET' && asked.reusedSocket && !signal?.aborted) open(asking, took, failed);
      else failed();
    });
    asked.end(text);
  };

  const client: Client = {
    ask: (method, path, body, headers) =>
      new Promise((resolve) => {
        const take = (response: IncomingMessage): void => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.once('error', () => {});
          response.once('close', () => {
            const text = Buffer.concat(chunks).toString();
            resolve(
              response.complete ? { status: response.statusCode ?? 0, body: jsonOf(text), text } : undefined,
            );
          });
        };
        open({ method, path, body, headers }, take, () => resolve(undefined));
      }),
    follow: ({ method = 'POST', path, body, head, frame, signal }) =>
      new Promise((resolve) => {
        const take = (response: IncomingMessage): void => {
          const { statusCode: status } = response;
          if (status !== undefined) head?.(status);
          let unread = '';
          let left = false;
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            const blocks = (unread + chunk).split('\n\n');
            unread = blocks.pop() ?? '';
            for (const block of blocks) {
              const read = frameOf(block);
              if (left || !read || frame(read)) continue;
              left = true;
              response.destroy();
            }
          });
          response.once('error', () => {});
          response.once('close', () => resolve({ status, whole: response.complete }));
        };
        open({ method, path, body, signal }, take, () => resolve({ status: undefined, whole: false }));
      }),
    async read(path, shape) {
      const answer = await client.ask('GET', path, undefined, ADMIN);
      if (answer?.status !== 200)
        throw new Error(`GET ${path}: ${answer ? answer.status + answer.text : 'cut off'}`);
      return shape.parse(answer.body);
    },
  };
  return client;
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Undefined for comments. */
const frameOf = (block: string): Frame | undefined => {
  const id = /^id: (.*)$/m.exec(block)?.[1];
  const data = /^data: ([^\n]*)$/m.exec(block)?.[1];
  const value = data === undefined ? undefined : jsonOf(data);
  return isObject(value) ? { id, data: value } : undefined;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The string under this key of a response. */
export const textIn = (value: unknown, ...keys: string[]): string | undefined => {
  const found = keys.reduce((at: unknown, key) => (isObject(at) ? at[key] : undefined), value);
  return typeof found === 'string' ? found : undefined;
};

/** Every row of a paged list. */
export const everyRow = async <Row>(
  page: (offset: number) => Promise<{ rows: readonly Row[]; more: boolean }>,
  from = 0,
): Promise<Row[]> => {
  const all: Row[] = [];
  for (;;) {
    const { rows, more } = await page(from + all.length);
    all.push(...rows);
    if (!more || rows.length === 0) return all;
  }
};
