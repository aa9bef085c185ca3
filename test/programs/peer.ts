import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A program that speaks WebSocket byte by byte, to send what no well-behaved client sends. */

export type Peer = {
  /** The status line of the handshake, and everything after it. */
  head: string;
  socket: Socket;
  /** Sends one message, as text unless `opcode` says otherwise. */
  send(text: string, opcode?: number): void;
  tell(message: object): void;
  closed: Promise<void>;
};

const MASKED = 0x80;

const lengthOf = (size: number): Buffer => {
  if (size < 126) return Buffer.from([MASKED | size]);
  const head = Buffer.alloc(size < 65_536 ? 3 : 9);
  head[0] = MASKED | (size < 65_536 ? 126 : 127);
  if (size < 65_536) head.writeUInt16BE(size, 1);
  else head.writeBigUInt64BE(BigInt(size), 1);
  return head;
};

const frameOf = (text: string, opcode: number): Buffer => {
  const payload = Buffer.from(text);
  // A mask of zeros leaves the payload unchanged.
  return Buffer.concat([Buffer.from([0x80 | opcode]), lengthOf(payload.length), Buffer.alloc(4), payload]);
};

export const connectPeer = async (
  t: Test,
  url: string,
  { path = '/', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<Peer> => {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname.replace(/^\[|\]$/g, ''), allowHalfOpen: true });
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  socket.once('end', () => socket.end());
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const asked = {
    host,
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    ...headers,
  };
  const lines = Object.entries(asked).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  let head = '';
  await new Promise<void>((resolve) => {
    socket.on('data', (bytes) => {
      head += bytes.toString('latin1');
      if (head.includes('\r\n\r\n')) resolve();
    });
    socket.once('close', () => resolve());
  });
  return {
    head,
    socket,
    send: (text, opcode = 1) => void socket.write(frameOf(text, opcode)),
    tell: (message) => void socket.write(frameOf(JSON.stringify(message), 1)),
    closed,
  };
};
