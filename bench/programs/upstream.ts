import type { AddressInfo } from 'node:net';
import { createUpstream } from '../upstream/server.ts';

/** A model provider in its own process. It responds to each message of the benchmark with its counts. */

const { server, counts } = createUpstream();

server.listen(0, '127.0.0.1', 4096, () => {
  // It listens on TCP, so its address is an AddressInfo.
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`listens on http://127.0.0.1:${port}\n`);
});
process.on('message', () => process.send?.(counts()));
process.on('disconnect', () => process.exit());
