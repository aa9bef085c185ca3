import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { BOUNDS } from './bounds.ts';
import { createBrake } from './brake.ts';
import { type Child, type Program, startChild, stopChild } from './child.ts';
import { failIfDropped } from './dropped.ts';
import { connectionClosed, McpFailure, transportFailure, wordsOf } from './failure.ts';
import { createFlood, isWorthReading } from './flood.ts';
import { createLineReader, feedLines } from './lines.ts';
import {
  cancelledBy,
  idOfRequest,
  idOfResponse,
  isInitialize,
  type RequestId,
  readMessage,
} from './message.ts';
import { readStderr } from './stderr.ts';

/**
 * The stdio transport (mcp.md B4): one message a line, over the pipes of a child.
 *
 * Guarantees: lines that are no message are told and passed over; one that is too long fails the request that it
 * answers and nothing else; the end of the child is told at once, and fails whatever waits for it.
 */
export type StdioOptions = Program & {
  /** Given to the server as `config` of its initialization, unless it is empty. */
  config: Record<string, unknown>;
  /** A line of stderr, or what is wrong with one of stdout. */
  tell(text: string): void;
  /** The child has ended without being asked to. */
  lost(reason: string): void;
};

type Waiting = { resolve(): void; reject(failure: McpFailure): void };

export const createStdioTransport = (options: StdioOptions): Transport => {
  let child: Child | undefined;
  let closing: Promise<void> | undefined;
  const flood = createFlood();
  const waiting = new Map<RequestId, Waiting>();
  let initializing: RequestId | undefined;

  const settle = (id: RequestId | undefined, failure?: McpFailure): void => {
    const request = id === undefined ? undefined : waiting.get(id);
    if (id === undefined || !request) return;
    waiting.delete(id);
    if (failure) request.reject(failure);
    else request.resolve();
  };

  let slowDown = (_lines: number): void => {};

  const nonsense = (): void => {
    slowDown(1);
    options.tell('a line of its stdout is no message');
  };

  const hear = (line: Buffer): void => {
    if (line.length === 0) return;
    try {
      const message = readMessage(line);
      const answered = message && idOfResponse(message);
      if (!message) nonsense();
      else if (answered !== undefined) queueMicrotask(() => finish(message, answered));
      else if (isWorthReading(flood, message)) transport.onmessage?.(message);
    } catch (error) {
      if (error instanceof McpFailure) refuse(error, endsOf(line));
      else options.tell(wordsOf(error));
    }
  };

  /** The client reads notifications a turn later than answers; progress that came before this one is to be heard. */
  const finish = (message: JSONRPCMessage, id: RequestId): void => {
    try {
      transport.onmessage?.(message);
    } catch (error) {
      options.tell(wordsOf(error));
    }
    settle(id);
  };

  /** Its ends say whose answer it is; where they do not, only the one that waits can be meant. */
  const refuse = (failure: McpFailure, ends: string): void => {
    options.tell(failure.message);
    const ids = new Set(Array.from(ends.matchAll(ID), ([, id = '']) => id));
    const named = [...waiting.keys()].filter((id) => ids.has(JSON.stringify(id)));
    const meant = named.length > 0 ? named : [...waiting.keys()];
    if (meant.length === 1) settle(meant[0], failure);
  };

  const failAll = (): void => {
    for (const id of [...waiting.keys()]) settle(id, connectionClosed());
  };

  const ended = (reason: string): void => {
    // Whoever waits for the first connection is told why there is none.
    settle(initializing, new McpFailure('transport', reason));
    failAll();
    if (!closing) options.lost(reason);
    // The client has no other words for those who wait than that it is closed, so they learn of it first.
    setImmediate(() => transport.onclose?.());
  };

  const start = async (): Promise<void> => {
    const started = await startChild(options).catch((error: unknown) => {
      throw transportFailure(wordsOf(error), error);
    });
    if (closing) {
      await stopChild(started);
      throw connectionClosed();
    }
    child = started;
    const lines = createLineReader({
      most: BOUNDS.messageBytes,
      onLine: hear,
      onTooLong: (ends) =>
        refuse(
          new McpFailure(
            'unreadable',
            `the message of the server has more than ${BOUNDS.messageBytes} bytes`,
          ),
          ends,
        ),
    });
    const { stdout, stderr } = started.process;
    const heard = readStderr(stderr, options.tell);
    slowDown = createBrake(stdout, BOUNDS.nonsenseRate);
    stdout.on('data', (chunk: Buffer) => feedLines(lines, chunk));
    stdout.on('error', () => {});
    const silent = new Promise<string>((resolve) => stdout.once('end', () => resolve('closed its stdout')));
    const speechless = new Promise<void>((resolve) => stderr.once('close', resolve));
    // What it wrote last is read first, as far as it is in the pipes; a child of its own may hold them open.
    const exit = started.exited.then(onceRead(silent));
    const last = (): string => (heard.last() === '' ? '' : `: ${heard.last()}`);
    Promise.race([exit, silent.then(() => inTurn(started.exited, 'closed its stdout'))])
      .then(onceRead(speechless))
      .then((how) => {
        ended(`mcp transport error: the server ${how}${last()}`);
        if (!closing) closing = stopChild(started);
      });
  };

  const transport: Transport = {
    start,
    async send(message) {
      if (!child || closing) throw connectionClosed();
      const { stdin } = child.process;
      if (stdin.writableLength > BOUNDS.unreadBytes) throw transportFailure('the server does not read');
      settle(cancelledBy(message));
      stdin.write(`${JSON.stringify(configured(message, options.config))}\n`);
      const id = idOfRequest(message);
      if (id === undefined) return;
      if (isInitialize(message)) initializing = id;
      await new Promise<void>((resolve, reject) => waiting.set(id, { resolve, reject }));
      await failIfDropped();
    },
    close() {
      const open = child;
      closing ??= open ? stopChild(open) : Promise.resolve();
      failAll();
      return closing;
    },
  };
  return transport;
};

/** As any serializer writes it. */
const ID = /"id"\s*:\s*("[^"]*"|\d+)/g;

const endsOf = (line: Buffer): string =>
  `${line.toString('utf8', 0, 512)} ${line.toString('utf8', Math.max(0, line.length - 512))}`;

const LAST_WORDS_MS = 300;

/** What comes of the end of a program mostly comes at once, and is worth a moment. */
const inTurn = (told: Promise<string>, otherwise: string): Promise<string> =>
  Promise.race([told, new Promise<string>((resolve) => setTimeout(resolve, LAST_WORDS_MS, otherwise))]);

/** How a program ended, once its pipe has been read to its end. */
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
