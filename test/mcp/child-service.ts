import { createMcpManager } from '../../src/mcp/index.ts';
import { McpServerSpec } from '../../src/schema/mcp-server.ts';
import { memoryRecords } from './manage.ts';

/** The connections of a service in a separate process that a test kills. It reports when all connections are open. */

const ignore = (): void => {};
const manager = createMcpManager({
  clock: { now: Date.now },
  log: { debug: ignore, warn: ignore },
  version: '1',
  refreshMs: 0,
  actors: { began: () => ignore },
  scope: 'default',
  records: memoryRecords(),
  observe: { called: ignore, reconnected: ignore },
  changed: ignore,
});
const specs = process.argv.slice(2).map((text) => McpServerSpec.parse(JSON.parse(text)));
manager.apply(specs);
const timer = setInterval(() => {
  if (!specs.every(({ id }) => manager.status(id).connected)) return;
  clearInterval(timer);
  process.stdout.write('connected\n');
}, 5);
// A connection alone does not keep the process alive.
setInterval(ignore, 1000);
