import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { loadHttps } from '../schema/https.ts';
import { BOUNDS } from './bounds.ts';
import { McpFailure, timedOut, transportFailure, wordsOf } from './failure.ts';

/**
 * One HTTP request to an MCP server.
 *
 * Guarantees: a response begins within the timeout, and no pause in it is longer. A redirect is followed only within
 * the origin and only if it keeps the method, because headers contain keys. A body is read only up to its limit.
 * Failures contain neither headers nor addresses.
 */
export type HttpPeer = {
  readonly url: URL;
  readonly agent: Agent;
  readonly timeoutMs: number;
};

export type HttpQuestion = {
  method: 'POST' | 'GET' | 'DELETE';
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  /** Timeout until the head of the response; 0 means none. */
  timeoutMs?: number;
};

const MOST_REDIRECTS = 5;

/** @throws McpFailure */
export const ask = async (peer: HttpPeer, question: HttpQuestion): Promise<IncomingMessage> => {
  let url = peer.url;
  for (let followed = 0; ; followed += 1) {
    const answer = await askOnce(peer, url, question);
    const target = redirectOf(answer, url, question);
    if (!target || followed === MOST_REDIRECTS) return answer;
    discard(answer, peer.timeoutMs);
    url = target;
  }
};

const askOnce = (peer: HttpPeer, url: URL, question: HttpQuestion): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { method, headers, body, signal, timeoutMs = peer.timeoutMs } = question;
    const send = url.protocol === 'https:' ? loadHttps().request : httpRequest;
    const request = send(url, { agent: peer.agent, method, headers, signal });
    const timer =
      timeoutMs > 0 ? setTimeout(() => request.destroy(timedOut(timeoutMs)), timeoutMs) : undefined;
    request.once('response', (response) => {
      clearTimeout(timer);
      // A socket may break after the body was read.
      response.on('error', () => {});
      resolve(response);
    });
    request.on('error', (error) => {
      clearTimeout(timer);
      reject(failureOf(error));
    });
    request.end(body);
  });

const failureOf = (error: Error): McpFailure =>
  error instanceof McpFailure ? error : transportFailure(wordsOf(error), error);

const KEEPS_METHOD = new Set([307, 308]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const redirectOf = (answer: IncomingMessage, url: URL, { method }: HttpQuestion): URL | undefined => {
  const { statusCode = 0, headers } = answer;
  if (!REDIRECTS.has(statusCode) || headers.location === undefined) return undefined;
  if (method !== 'GET' && !KEEPS_METHOD.has(statusCode)) return undefined;
  const target = URL.canParse(headers.location, url.href) ? new URL(headers.location, url) : undefined;
  if (target?.origin !== url.origin || target.username !== '' || target.password !== '') return undefined;
  target.username = url.username;
  target.password = url.password;
  return target;
};

/** Yields the chunks of a body until a pause exceeds `idleMs` or the signal fires. 0 means no limit. */
export async function* chunksOf(
  response: IncomingMessage,
  { signal, idleMs }: { signal: AbortSignal; idleMs: number },
): AsyncGenerator<Buffer> {
  const stop = (): void => {
    response.destroy(new McpFailure('cancelled', 'request cancelled'));
  };
  const timer = idleMs > 0 ? setTimeout(() => response.destroy(timedOut(idleMs)), idleMs) : undefined;
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for await (const chunk of response) {
      timer?.refresh();
      yield chunk;
    }
  } catch (error) {
    throw error instanceof Error ? failureOf(error) : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    response.destroy();
  }
}

/** Reads the whole body within `idleMs`. @throws McpFailure */
export const readBody = async (
  response: IncomingMessage,
  { signal, idleMs }: { signal: AbortSignal; idleMs: number },
): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => response.destroy(timedOut(idleMs)), idleMs);
  try {
    for await (const chunk of chunksOf(response, { signal, idleMs: 0 })) {
      bytes += chunk.length;
      if (bytes > BOUNDS.messageBytes) throw tooLong();
      pieces.push(chunk);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(pieces);
};

export const tooLong = (): McpFailure =>
  new McpFailure('unreadable', `the message of the server has more than ${BOUNDS.messageBytes} bytes`);

/** Discards the rest of a body, and releases its socket if that takes too long. */
export const discard = (response: IncomingMessage, ms: number): void => {
  const timer = setTimeout(() => response.destroy(), ms).unref();
  response.once('close', () => clearTimeout(timer));
  response.resume();
};

/** Reads the text of an error response; never fails. */
export const readRefusal = async (
  response: IncomingMessage,
  pace: { signal: AbortSignal; idleMs: number },
): Promise<McpFailure> => {
  const { statusCode = 0 } = response;
  const text = REDIRECTS.has(statusCode)
    ? 'a redirect to another origin is not followed'
    : await readBody(response, pace).then(
        (body) => body.toString('utf8', 0, BOUNDS.refusalBytes),
        () => '',
      );
  return new McpFailure('transport', `mcp transport error: HTTP error: ${statusCode} - ${text}`, {
    status: statusCode,
    body: text,
  });
};
