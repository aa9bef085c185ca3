import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerTo, type Chunk, PACE_MS, parseModel, type Script } from './answer.ts';
import { formatDeparture, nowMicros } from './departure.ts';
import type { UpstreamFormat } from './format.ts';
import { UPSTREAM_FORMATS } from './formats.ts';
import { listModels } from './model-list.ts';
import { openaiChat } from './openai-chat.ts';
import { Refusal } from './refusal.ts';
import { createWheel, type Wheel } from './wheel.ts';

/** A model provider with low overhead: streams are encoded once, and only departure times are inserted per chunk. */

export type Counts = {
  /** Connections that have carried an inference. */
  connections: number;
  /** Requests for an inference. */
  requests: number;
  /** Refused requests, with the reason. */
  refusals: string[];
};

export type Upstream = { server: Server; counts(): Counts };

export function createUpstream(): Upstream {
  const counts: Counts = { connections: 0, requests: 0, refusals: [] };
  const wheel = createWheel(PACE_MS);
  const used = new WeakSet<Socket>();
  const encoded = new Map<string, Chunk[]>();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://upstream');
    const list = request.method === 'GET' && listModels(url.pathname, request.headers);
    if (list) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
      return;
    }
    counts.requests += 1;
    if (!used.has(request.socket)) counts.connections += 1;
    used.add(request.socket);
    const format = Object.values(UPSTREAM_FORMATS).find(({ serves }) => serves(url.pathname));
    try {
      if (!format) throw new Refusal(404, 'not_found_error', `Unknown request URL: ${url.pathname}`);
      const [script, chunks] = await prepare(format, url, request, encoded);
      stream(response, script, chunks, wheel);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      counts.refusals.push(`${url.pathname}: ${error.message}`);
      const body = JSON.stringify((format ?? openaiChat).describe(error));
      response.writeHead(error.status, { 'content-type': 'application/json' }).end(body);
    }
  });
  // The services close a connection after minutes and announce no time. With 0, node:http does neither.
  server.keepAliveTimeout = 0;
  return { server, counts: () => counts };
}

/** @throws Refusal */
async function prepare(
  format: UpstreamFormat,
  url: URL,
  request: IncomingMessage,
  encoded: Map<string, Chunk[]>,
): Promise<[Script, Chunk[]]> {
  if (request.method !== 'POST') throw new Refusal(405, 'invalid_request_error', 'Method not allowed');
  const asked = format.read({ url, headers: request.headers, body: await bodyOf(request) });
  const script = parseModel(asked.model);
  if (!script) throw new Refusal(404, 'not_found_error', `The model '${asked.model}' does not exist`);
  const key = JSON.stringify([url.pathname, asked]);
  const chunks = encoded.get(key) ?? format.encode(asked, answerTo(script, asked));
  encoded.set(key, chunks);
  return [script, chunks];
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece;
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'invalid_request_error', 'We could not parse the JSON body of your request.');
  }
}

function stream(response: ServerResponse, { mode }: Script, chunks: readonly Chunk[], wheel: Wheel): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  const sender = createSender(response, chunks);
  if (mode === 'turns') {
    const turn = (): void => {
      if (sender.send()) setImmediate(turn);
    };
    turn();
  } else if (mode === 'paced') {
    if (sender.sendToken()) wheel.add(sender.sendToken);
  } else while (sender.send()) {}
}

type Sender = {
  /** Sends one chunk. Returns false after the last one, or if the client has disconnected. */
  send(): boolean;
  /** Sends the chunks up to and including the next token, and after the last token all remaining ones. */
  sendToken(): boolean;
};

function createSender(response: ServerResponse, chunks: readonly Chunk[]): Sender {
  const isToken = ({ filler }: Chunk): boolean => filler === 'departure';
  const lastToken = chunks.findLastIndex(isToken);
  let text = '';
  let at = 0;
  const fill = ({ head, filler, tail }: Chunk): string => {
    if (filler === undefined) return head;
    if (filler === 'text') return head + text + tail;
    const departure = formatDeparture(nowMicros());
    text += departure;
    return head + departure + tail;
  };
  const send = (): boolean => {
    const chunk = chunks[at];
    if (!chunk || response.destroyed) return false;
    at += 1;
    response.write(fill(chunk));
    if (at < chunks.length) return true;
    response.end();
    return false;
  };
  const sendToken = (): boolean => {
    for (;;) {
      const chunk = chunks[at];
      const ends = chunk !== undefined && isToken(chunk) && at !== lastToken;
      if (!send()) return false;
      if (ends) return true;
    }
  };
  return { send, sendToken };
}
