import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { answerOf, isRequest, type Pending, settles } from './answering.ts';
import { Inbox } from './inbox.ts';
import { type Message, obliging, type Script } from './script.ts';

/**
 * A scripted MCP server over stdio: the service starts `relay.mjs`, which connects to here. So the script, and what
 * was heard, are in the process of the test.
 */

const RELAY = fileURLToPath(new URL('./relay.mjs', import.meta.url));

/** A process that the service has started. */
export type Child = {
  pid: number;
  env: Record<string, string>;
  /** Says this as it is, whether it is a message or not. */
  write(text: string): void;
  notify(method: string, params?: object): void;
  request(method: string, params?: object): Promise<Message>;
  /** Resolves when it is gone. */
  ended: Promise<void>;
};

export type StdioPeer = {
  script: Script;
  received: Inbox<{ message: Message; pid: number }>;
  /** The oldest first, the ended ones as well. */
  children: Child[];
  /** Resolves when so many processes have been started; the last of them. */
  started(count: number): Promise<Child>;
  /** An entry of the configuration. */
  entry(id: string, more?: object): object;
};

type Options = { script?: Script; mood?: 'stubborn' };

export const startStdioPeer = async (
  t: Test,
  { script: changes, mood }: Options = {},
): Promise<StdioPeer> => {
  const script: Script = { ...obliging(), ...changes };
  const received: StdioPeer['received'] = new Inbox();
  const children: Child[] = [];
  const looks = new Set<() => void>();

  const serve = (socket: Socket): void => {
    const pending: Pending = new Map();
    const write = (text: string): void => void socket.write(text);
    const send = (message: object): void => write(`${JSON.stringify(message)}\n`);
    let pid = 0;
    const hear = async (message: Message): Promise<void> => {
      received.put({ message, pid });
      if (settles(pending, message) || !isRequest(message)) return;
      const answer = await answerOf(script, message, { send }, pending, {});
      if (answer !== undefined) send(answer);
    };
    createInterface({ input: socket }).on('line', (line) => {
      const said = JSON.parse(line);
      if (pid !== 0) return void hear(said);
      pid = said.pid;
      children.push(childOf(said, { socket, write, send, pending }));
      for (const look of looks) look();
    });
    socket.on('error', () => {});
  };

  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    for (const { pid } of children) endNow(pid);
  });
  // It listens on a port, so its address is one.
  const { port } = server.address() as AddressInfo;
  const args = [RELAY, String(port), ...(mood ? [mood] : [])];
  return {
    script,
    received,
    children,
    started: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          const child = children[count - 1];
          if (child === undefined) return;
          looks.delete(look);
          resolve(child);
        };
        looks.add(look);
        look();
      }),
    entry: (id, more) => ({ id, transport: 'stdio', command: process.execPath, args, ...more }),
  };
};

type Line = {
  socket: Socket;
  write(text: string): void;
  send(message: object): void;
  pending: Pending;
};

const childOf = (said: Pick<Child, 'pid' | 'env'>, { socket, write, send, pending }: Line): Child => {
  let asked = 0;
  return {
    pid: said.pid,
    env: said.env,
    write,
    notify: (method, params) => send({ jsonrpc: '2.0', method, ...(params && { params }) }),
    request: (method, params) =>
      new Promise((resolve) => {
        asked += 1;
        const id = `unasked-${asked}`;
        pending.set(id, resolve);
        send({ jsonrpc: '2.0', id, method, ...(params && { params }) });
      }),
    ended: new Promise((resolve) => socket.once('close', () => resolve())),
  };
};

/** What the service should have ended does not outlive its test. */
const endNow = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone, as it should be.
  }
};
