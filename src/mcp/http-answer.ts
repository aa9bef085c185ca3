import type { IncomingMessage } from 'node:http';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/client';
import { type Cursor, readEvents, startCursor } from './event-stream.ts';
import { McpFailure, protocolFailure, transportFailure } from './failure.ts';
import { readBody } from './http-request.ts';
import { type HttpState, hand, openStream, pause, refuse } from './http-session.ts';
import { asMessage, idOfRequest, idOfResponse, type RequestId, readMessage } from './message.ts';

/**
 * Reads the response to one request (mcp.md B4, B5): a body, or a stream that is resumed after a break if the server
 * has sent a position. Messages before the response on its stream are passed on in order.
 */

export type Waiting = { request: JSONRPCRequest; signal: AbortSignal };

const MOST_RESUMES = 3;
const RESUME_MS = 1000;

export const readAnswer = async (
  state: HttpState,
  response: IncomingMessage,
  { request, signal }: Waiting,
): Promise<void> => {
  const type = typeOf(response);
  if (type === 'application/json') {
    const body = await readBody(response, { signal, idleMs: state.peer.timeoutMs });
    return hand(state, answerIn(body, request.id));
  }
  if (type !== 'text/event-stream') {
    response.destroy();
    throw protocolFailure(`Unsupported HTTP content type: ${response.headers['content-type'] ?? 'none'}`);
  }
  return readStream(state, response, { request, signal });
};

const typeOf = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

const answerIn = (body: Buffer, id: RequestId): JSONRPCMessage => {
  const one = readMessage(body);
  const all = one ? [one] : listIn(body);
  const answer = all.find((message) => idOfResponse(message) === id);
  if (!answer) throw protocolFailure('the body has no response to the request');
  return answer;
};

const listIn = (body: Buffer): JSONRPCMessage[] => {
  try {
    const value: unknown = JSON.parse(body.toString());
    return Array.isArray(value) ? value.flatMap((item) => asMessage(item) ?? []) : [];
  } catch {
    return [];
  }
};

/** Reads until the response; a broken stream is resumed at most `MOST_RESUMES` times. */
const readStream = async (state: HttpState, first: IncomingMessage, waiting: Waiting): Promise<void> => {
  const cursor = startCursor();
  let response: IncomingMessage | undefined = first;
  let broke: unknown;
  for (let resumes = 0; ; resumes += 1) {
    try {
      if (response && (await readToAnswer(state, response, cursor, waiting))) return;
    } catch (error) {
      if (!(error instanceof McpFailure) || error.kind !== 'transport') throw error;
      broke = error;
    }
    if (cursor.lastEventId === undefined || resumes === MOST_RESUMES) {
      throw broke ?? transportFailure('the stream ended without its response');
    }
    await pause(cursor.retryMs ?? RESUME_MS, waiting.signal);
    response = await resume(state, cursor, waiting.signal).catch((error: unknown) => {
      if (!(error instanceof McpFailure) || error.kind !== 'transport' || error.cause === undefined)
        throw error;
      broke = error;
      return undefined;
    });
  }
};

const readToAnswer = async (
  state: HttpState,
  response: IncomingMessage,
  cursor: Cursor,
  { request, signal }: Waiting,
): Promise<boolean> => {
  for await (const { data } of readEvents(response, cursor, { signal, idleMs: state.peer.timeoutMs })) {
    const message = readMessage(Buffer.from(data));
    if (!message) {
      state.options.report('an event of a stream is no message');
      continue;
    }
    const question = idOfRequest(message);
    if (question !== undefined) state.originRequests.set(question, request);
    const answered = idOfResponse(message);
    if (answered !== undefined && answered !== request.id)
      throw protocolFailure('a response to another request');
    hand(state, message);
    if (answered !== undefined) return true;
  }
  return false;
};

const resume = async (state: HttpState, cursor: Cursor, signal: AbortSignal): Promise<IncomingMessage> => {
  const response = await openStream(state, cursor, { signal, timeoutMs: state.peer.timeoutMs });
  const { statusCode = 0 } = response;
  if (statusCode < 200 || statusCode > 299) {
    const lost = new McpFailure('cut_off', 'MCP session expired after request was accepted');
    throw await refuse(state, response, { signal, lost });
  }
  if (typeOf(response) === 'text/event-stream') return response;
  response.destroy();
  throw protocolFailure('a stream was resumed with something else');
};
