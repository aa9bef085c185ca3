import { connect, type Socket } from 'node:net';

/**
 * `idle-clients URL`: on `{ agent, count }`, opens this number of streams and responds once each has its first bytes.
 * With `reads: false`, it sends the request and never reads. Opened streams stay open.
 */

export type Wish = { agent: string; count: number; reads: boolean };

const AT_A_TIME = 100;

const url = new URL(process.argv[2] ?? '');
const sockets: Socket[] = [];
const buffer = Buffer.allocUnsafeSlow(1 << 14);

const open = ({ agent, reads }: Wish): Promise<void> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({ agentId: agent, messages: [{ role: 'user', content: 'Go.' }] });
    const head = `POST /v1/runs HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\n`;
    const request = `${head}content-length: ${body.length}\r\n\r\n${body}`;
    const socket = connect({
      host: url.hostname,
      port: Number(url.port),
      onread: {
        buffer,
        callback: (length) => {
          if (buffer.toString('latin1', 0, length).startsWith('HTTP/1.1 200')) resolve();
          return true;
        },
      },
    });
    sockets.push(socket);
    if (!reads) socket.pause();
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('a stream was closed')));
    socket.on('connect', () => {
      socket.write(request);
      if (!reads) resolve();
    });
  });

process.on('message', async (wish: Wish) => {
  let left = wish.count;
  const opener = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await open(wish);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, opener));
  process.send?.({ open: sockets.filter((socket) => !socket.destroyed).length });
});
process.on('disconnect', () => process.exit());
