import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { AnyActorRef } from 'xstate';
import type { Ids } from '../../schema/clock.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import type { Principal } from '../../schema/principal.ts';
import {
  asMcpError,
  errorObject,
  INTERNAL_ERROR,
  INVALID_REQUEST,
  McpError,
  PARSE_ERROR,
  type RpcId,
} from './errors.ts';
import { parseBody, type RpcMessage, type RpcRequest, readMessage } from './messages.ts';
import type { McpProvider } from './provider.ts';
import {
  ask,
  closeSession,
  createSession,
  deliver,
  initialize,
  type Session,
  toolsChanged,
  versionIn,
} from './session.ts';

/**
 * Serves MCP over a pair of pipes, one message per line (mcp.md A11). The process at the other end is the only client,
 * so there is one session, from `initialize` to the end of the input.
 */
export type StdioDeps = {
  provider: McpProvider;
  ids: Ids;
  principal: Principal;
  actors: { began(actor: AnyActorRef, scope: string): () => void };
  log: Pick<ServiceLog, 'debug' | 'warn'>;
};

/** The active server of a pair of pipes. */
export type StdioServing = {
  /** Resolves when the input has ended and all its requests have responses. */
  readonly ended: Promise<void>;
  toolsChanged(): void;
  /** Stops reading and responding, and cancels open requests. */
  stop(): void;
};

export const serveStdio = async (
  deps: StdioDeps,
  { input, output }: { input: Readable; output: Writable },
): Promise<StdioServing> => {
  const { provider, ids, principal, actors, log } = deps;
  const write = (message: object): void => {
    if (output.writable) output.write(`${JSON.stringify(message)}\n`);
  };
  const session = await createSession({
    provider,
    principal,
    actorId: ids.uuid(),
    idleMs: 0,
    pipe: write,
    report: (err) => log.debug('mcp.invalid_message', { err }),
  });
  const { actor } = session;
  const gone = actors.began(actor, session.scope);
  actor.subscribe({
    complete() {
      closeSession(session);
      gone();
    },
  });
  actor.start();
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const answering = new Set<Promise<void>>();
  lines.on('line', (line) => {
    const answer = answerTo(session, line, log);
    const written = answer.then((message) => {
      if (message) write(message);
      answering.delete(written);
    });
    answering.add(written);
  });
  const end = async (): Promise<void> => {
    await once(lines, 'close');
    await Promise.all(answering);
    if (actor.getSnapshot().status === 'active') actor.send({ type: 'STOP' });
  };
  const stop = (): void => {
    if (actor.getSnapshot().status === 'active') actor.send({ type: 'STOP' });
    lines.close();
  };
  // The client has closed its end.
  output.on('error', stop);
  const ended = end().finally(() => output.off('error', stop));
  return { ended, toolsChanged: () => toolsChanged(session), stop };
};

/** Never rejects. */
const answerTo = async (
  session: Session,
  line: string,
  log: StdioDeps['log'],
): Promise<object | undefined> => {
  if (line.trim() === '') return undefined;
  try {
    return await take(session, read(line));
  } catch (error) {
    const { code, message, id } = asMcpError(error, session.actor.id);
    if (code === INTERNAL_ERROR) log.warn('mcp.message_failed', { err: error, session: session.actor.id });
    return errorObject(code, message, id);
  }
};

/** @throws McpError */
const read = (line: string): RpcMessage => {
  const parsed = parseBody(line);
  if (parsed.problem !== undefined) throw refusal(PARSE_ERROR, `parse error: ${parsed.problem}`);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refusal(INVALID_REQUEST, 'expected a single JSON-RPC object');
  return readMessage(parsed);
};

/** The status is unused without HTTP. */
const refusal = (code: number, message: string, id: RpcId | null = null): McpError =>
  new McpError(400, code, message, id);

/** @throws McpError, Unavailable */
const take = async (session: Session, message: RpcMessage): Promise<object | undefined> => {
  const isOpen = session.actor.getSnapshot().hasTag('known');
  if (message.kind === 'request' && message.method === 'initialize') return open(session, message, isOpen);
  if (!isOpen) return early(message);
  if (message.kind === 'request') return ask(session, message).answered;
  deliver(session, message);
  return undefined;
};

const open = async (session: Session, request: RpcRequest, isOpen: boolean): Promise<object | undefined> => {
  if (isOpen) throw refusal(INVALID_REQUEST, 'the session is initialized already', request.id);
  const answer = await initialize(session, request);
  const version = versionIn(answer);
  if (version !== undefined) session.actor.send({ type: 'OPENED', version });
  return answer;
};

/** Handles messages before `initialize`: a client may only send a ping. */
const early = (message: RpcMessage): object | undefined => {
  if (message.kind === 'request') {
    if (message.method === 'ping') return initialPing(message.id);
    throw refusal(
      INVALID_REQUEST,
      'initialize must be the first request in an MCP stdio session',
      message.id,
    );
  }
  if (message.kind === 'notification' && message.method === 'notifications/initialized')
    throw refusal(INVALID_REQUEST, 'received notifications/initialized before initialize');
  return undefined;
};

const initialPing = (id: RpcId): object => ({ jsonrpc: '2.0', id, result: {} });
