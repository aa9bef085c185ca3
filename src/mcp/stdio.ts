import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { BOUNDS } from './bounds.ts';
import { type Child, type Program, startChild, stopChild } from './child.ts';
import { failIfDropped } from './dropped.ts';
import { connectionClosed, McpFailure, transportFailure, wordsOf } from './failure.ts';
import { createLineReader, feedLines } from './lines.ts';
import {
  cancelledBy,
  idOfRequest,
  idOfResponse,
  isInitialize,
  type RequestId,
  readMessage,
} from './message.ts';
import { accepts, createNotificationLimiter, type NotificationLimiter } from './notification-limiter.ts';
import { readStderr } from './stderr.ts';
import { createThrottle } from './throttle.ts';

/**
 * The stdio transport (mcp.md B4): one message per line, over the pipes of a child.
 *
 * Guarantees: lines that are not messages are reported and skipped. A line beyond the limit fails only the request that
 * it responds to. The end of the child is reported immediately and fails all pending requests.
 */
export type StdioOptions = Program & {
  /** Sent to the server as `config` of its initialization, unless it is empty. */
  config: Record<string, unknown>;
  /** Receives lines of stderr and problems of lines on stdout. */
  report(text: string): void;
  /** Called when the child has ended without a request to stop. */
  lost(reason: string): void;
};

type Waiting = { resolve(): void; reject(failure: McpFailure): void };

type Connection = {
  readonly options: StdioOptions;
  readonly transport: Transport;
  readonly limiter: NotificationLimiter;
  /** Requests without a response. */
  readonly waiting: Map<RequestId, Waiting>;
  child: Child | undefined;
  closing: Promise<void> | undefined;
  initializing: RequestId | undefined;
  /** Limits the rate of lines that are not messages. */
  throttle(lines: number): void;
};

export const createStdioTransport = (options: StdioOptions): Transport => {
  const transport: Transport = {
    start: () => start(connection),
    send: (message) => send(connection, message),
    close: () => close(connection),
  };
  const connection: Connection = {
    options,
    transport,
    limiter: createNotificationLimiter(),
    waiting: new Map(),
    child: undefined,
    closing: undefined,
    initializing: undefined,
    throttle() {},
  };
  return transport;
};

const start = async (connection: Connection): Promise<void> => {
  const { options } = connection;
  const child = await startChild(options).catch((error: unknown) => {
    throw transportFailure(wordsOf(error), error);
  });
  if (connection.closing) {
    await stopChild(child);
    throw connectionClosed();
  }
  connection.child = child;
  const { stdout, stderr } = child.process;
  const log = readStderr(stderr, options.report);
  readMessages(connection, stdout);
  describeEnd(child).then((how) => {
    const last = log.last();
    end(connection, `mcp transport error: the server ${how}${last === '' ? '' : `: ${last}`}`);
    if (!connection.closing) connection.closing = stopChild(child);
  });
};

const readMessages = (connection: Connection, stdout: Child['process']['stdout']): void => {
  const lines = createLineReader({
    most: BOUNDS.messageBytes,
    onLine: (line) => receive(connection, line),
    onTooLong: (ends) =>
      refuse(
        connection,
        new McpFailure('unreadable', `the message of the server has more than ${BOUNDS.messageBytes} bytes`),
        ends,
      ),
  });
  connection.throttle = createThrottle(stdout, BOUNDS.nonsenseRate);
  stdout.on('data', (chunk: Buffer) => feedLines(lines, chunk));
  stdout.on('error', () => {});
};

/** Resolves when the program has ended or closed its stdout, and its pipes are read, to how it ended. */
const describeEnd = ({ process: { stdout, stderr }, exited }: Child): Promise<string> => {
  const silent = new Promise<string>((resolve) => stdout.once('end', () => resolve('closed its stdout')));
  const speechless = new Promise<void>((resolve) => stderr.once('close', resolve));
  // Remaining output in the pipes is read first; a descendant of the child may keep them open.
  const exit = exited.then(onceRead(silent));
  return Promise.race([exit, silent.then(() => inTurn(exited, 'closed its stdout'))]).then(
    onceRead(speechless),
  );
};

const receive = (connection: Connection, line: Buffer): void => {
  if (line.length === 0) return;
  const { options, transport, limiter } = connection;
  try {
    const message = readMessage(line);
    const answered = message && idOfResponse(message);
    if (!message) {
      connection.throttle(1);
      options.report('a line of its stdout is no message');
    } else if (answered !== undefined) queueMicrotask(() => finish(connection, message, answered));
    else if (accepts(limiter, message)) transport.onmessage?.(message);
  } catch (error) {
    if (error instanceof McpFailure) refuse(connection, error, endsOf(line));
    else options.report(wordsOf(error));
  }
};

/**
 * The client processes notifications one tick later than responses, so progress before this response is processed
 * first.
 */
const finish = (connection: Connection, message: JSONRPCMessage, id: RequestId): void => {
  try {
    connection.transport.onmessage?.(message);
  } catch (error) {
    connection.options.report(wordsOf(error));
  }
  settle(connection, id);
};

const settle = ({ waiting }: Connection, id: RequestId | undefined, failure?: McpFailure): void => {
  const request = id === undefined ? undefined : waiting.get(id);
  if (id === undefined || !request) return;
  waiting.delete(id);
  if (failure) request.reject(failure);
  else request.resolve();
};

/** The ends of the line contain the request id; otherwise, only a single pending request can be meant. */
const refuse = (connection: Connection, failure: McpFailure, ends: string): void => {
  const { options, waiting } = connection;
  options.report(failure.message);
  const ids = new Set(Array.from(ends.matchAll(ID), ([, id = '']) => id));
  const named = [...waiting.keys()].filter((id) => ids.has(JSON.stringify(id)));
  const meant = named.length > 0 ? named : [...waiting.keys()];
  if (meant.length === 1) settle(connection, meant[0], failure);
};

const failAll = (connection: Connection): void => {
  for (const id of [...connection.waiting.keys()]) settle(connection, id, connectionClosed());
};

const end = (connection: Connection, reason: string): void => {
  const { options, transport, initializing, closing } = connection;
  // The wait for the first connection fails with the reason.
  settle(connection, initializing, new McpFailure('transport', reason));
  failAll(connection);
  if (!closing) options.lost(reason);
  // The client reports only that it is closed, so pending requests fail first, with the reason.
  setImmediate(() => transport.onclose?.());
};

const send = async (connection: Connection, message: JSONRPCMessage): Promise<void> => {
  const { child, closing, options, waiting } = connection;
  if (!child || closing) throw connectionClosed();
  const { stdin } = child.process;
  if (stdin.writableLength > BOUNDS.unreadBytes) throw transportFailure('the server does not read');
  settle(connection, cancelledBy(message));
  stdin.write(`${JSON.stringify(configured(message, options.config))}\n`);
  const id = idOfRequest(message);
  if (id === undefined) return;
  if (isInitialize(message)) connection.initializing = id;
  await new Promise<void>((resolve, reject) => waiting.set(id, { resolve, reject }));
  await failIfDropped();
};

const close = (connection: Connection): Promise<void> => {
  const { child } = connection;
  connection.closing ??= child ? stopChild(child) : Promise.resolve();
  failAll(connection);
  return connection.closing;
};

/** Matches the id as any serializer writes it. */
const ID = /"id"\s*:\s*("[^"]*"|\d+)/g;

const endsOf = (line: Buffer): string =>
  `${line.toString('utf8', 0, 512)} ${line.toString('utf8', Math.max(0, line.length - 512))}`;

const LAST_WORDS_MS = 300;

/** Waits briefly for a promise, because the effects of an exit usually arrive at once. */
const inTurn = (promise: Promise<string>, otherwise: string): Promise<string> =>
  Promise.race([promise, new Promise<string>((resolve) => setTimeout(resolve, LAST_WORDS_MS, otherwise))]);

/** Returns how a program ended, once its pipe has been read to its end. */
const onceRead =
  (read: Promise<unknown>) =>
  (how: string): Promise<string> =>
    inTurn(
      read.then(() => how),
      how,
    );

const configured = (message: JSONRPCMessage, config: Record<string, unknown>): JSONRPCMessage => {
  if (!isInitialize(message) || !('method' in message) || Object.keys(config).length === 0) return message;
  return { ...message, params: { ...message.params, config } };
};
