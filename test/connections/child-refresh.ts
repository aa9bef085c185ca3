import { createConnections } from '../../src/connections/connections.ts';
import { McpServerSpec } from '../../src/schema/mcp-server.ts';
import { openStore } from '../../src/store/index.ts';

/** Refreshes the stored connection of an account in its own process, and halts before the new token is used. */

const [dir = '', spec = '', now = ''] = process.argv.slice(2);
const entry = McpServerSpec.parse(JSON.parse(spec));

const connections = createConnections({
  store: await openStore({ dir, durability: 'process' }),
  clock: { now: () => Number(now) },
  log: { warn: () => {}, error: () => {} },
  resolve: async (name) => [{ address: name, family: 4 }],
  refreshed: () => {},
  refusalOf: () => undefined,
});
connections.apply([entry]);
const found = await connections.token({ scope: 'acme', user: 'alice', credential: undefined }, entry);
process.stdout.write(`${JSON.stringify(found)}\n`);
setInterval(() => {}, 60_000);
