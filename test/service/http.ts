import { Agent, type IncomingMessage, request } from 'node:http';

/** Requests of tests that check responses only: `fetch` needs three times as much CPU time. */

export type Asked = {
  /** Default: `GET`. */
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
};

export type Got = {
  status: number;
  headers: Headers;
  /** The next chunk of the body; undefined at its end. */
  read(): Promise<string | undefined>;
  /** The whole body, instead of `read`. */
  text(): Promise<string>;
  /** Closes the connection unless the body has ended. */
  leave(): void;
};

/** A complete response that a test received. */
export type Answered = { method: string; url: string; status: number; headers: Headers; body: string };

/** Called with each response. */
export const listeners = new Set<(answered: Answered) => void>();

/** Idle connections are closed before the service closes them, so that no request is sent on a closing connection. */
const agent = new Agent({ keepAlive: true, timeout: 4_000 });

/** @throws the error of the connection as Node.js reports it */
export const ask = (url: string, asked: Asked = {}): Promise<Got> => {
  const { method = 'GET', body, signal } = asked;
  const length = body === undefined ? undefined : { 'content-length': Buffer.byteLength(body) };
  const headers = { ...length, ...asked.headers };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers, ...(signal && { signal }) });
    sent.once('error', reject);
    sent.once('response', (response) => resolve(gotOf(response, method, url)));
    sent.end(body);
  });
};

const gotOf = (response: IncomingMessage, method: string, url: string): Got => {
  response.setEncoding('utf8');
  const { statusCode: status = 0 } = response;
  const headers = headersOf(response);
  let chunks: AsyncIterator<string> | undefined;
  return {
    status,
    headers,
    async read() {
      chunks ??= response[Symbol.asyncIterator]();
      const { done, value } = await chunks.next();
      return done ? undefined : value;
    },
    async text() {
      const body = await textOf(response);
      for (const hear of listeners) hear({ method, url, status, headers, body });
      return body;
    },
    leave: () => void response.destroy(),
  };
};

const textOf = (response: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    response.on('data', (chunk: string) => {
      text += chunk;
    });
    response.once('end', () => resolve(text));
    response.once('error', reject);
  });

const headersOf = ({ rawHeaders }: IncomingMessage): Headers => {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
};
