import { createTransport } from '../../../src/models/transport.ts';

/** Requests the URL in its argument twice. A separate process, because Node reads trusted authorities at startup. */
const [, , url = ''] = process.argv;
const transport = createTransport();
for (let turn = 0; turn < 2; turn += 1) {
  const signal = AbortSignal.timeout(30_000);
  const { body } = await transport.text({ method: 'GET', url, headers: {}, most: 100, signal });
  process.stdout.write(body);
}
await transport.close();
