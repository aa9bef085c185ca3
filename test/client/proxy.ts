import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A way to a service that can be cut. */
export type Proxy = {
  url: string;
  /** Every connection that is open now breaks. */
  cut(): void;
  /** Nobody gets through until it is up again; what is open stays. */
  isDown: boolean;
  /** Connections that were made. */
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
