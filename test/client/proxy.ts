import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A proxy to a service, whose connections can be cut. */
export type Proxy = {
  url: string;
  /** Breaks every open connection. */
  cut(): void;
  /** While true, no new connection gets through. Open ones stay. */
  isDown: boolean;
  /** The number of connections that were made. */
  connections(): number;
};

export const startProxy = async (t: Test, target: () => string): Promise<Proxy> => {
  const open = new Set<Socket>();
  let count = 0;
  const server = createServer((near) => {
    count += 1;
    near.on('error', () => {});
    if (proxy.isDown) {
      near.destroy();
      return;
    }
    const { hostname, port } = new URL(target());
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  t.teardown(() => {
    cut();
    server.close();
  });
  const proxy: Proxy = {
    // Listening on TCP, so it has a port.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    isDown: false,
    connections: () => count,
  };
  return proxy;
};
