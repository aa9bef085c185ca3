import { createTransport } from '../../../src/models/transport.ts';

/** Asks the URL of its argument twice. A separate process, because Node reads authorities to trust when it starts. */
const [, , url = ''] = process.argv;
const transport = createTransport();
for (let turn = 0; turn < 2; turn += 1) {
  const signal = AbortSignal.timeout(30_000);
  const { body } = await transport.text({ method: 'GET', url, headers: {}, most: 100, signal });
  process.stdout.write(body);
}
await transport.close();
