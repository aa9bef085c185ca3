import { createFront } from '../../src/cluster/front.ts';
import type { Peer } from '../../src/cluster/peer.ts';
import { readSettings } from '../../src/commands/setting-flags.ts';
import { createProcess } from '../../src/composition/process.ts';
import { openService } from '../../src/composition/service.ts';
import { openStores } from '../../src/composition/stores.ts';
import type { Answer } from '../../src/http/answer.ts';

/**
 * `member ID FLAGS [PEER]`: a member of a cluster without a database. `FLAGS` and `PEER` are JSON: the settings of the
 * service, and the active member; without it, this member is active. Prints its address.
 */

const [id = '', flags = '{}', peer] = process.argv.slice(2);
const active: Peer | undefined = peer === undefined ? undefined : JSON.parse(peer);

const settings = await readSettings(JSON.parse(flags), process.env);
const ofProcess = createProcess({ settings });
const { server, log, clock, metrics } = ofProcess;

const openOwn = async (): Promise<{ answer: Answer; start(url: string): Promise<void> }> =>
  openService(ofProcess, await openStores(settings, () => {}));

const service = active ? undefined : await openOwn();

const front = createFront({
  name: id,
  self: () => id,
  active: () => active,
  own: () => service?.answer,
  secret: () => 'shared by the members of a benchmark',
  leaseMs: () => 0,
  reached() {},
  allowsOrigin: () => false,
  bodyTimeoutMs: settings.body_timeout_ms,
  listener: { scheme: 'http', isLocal: server.boundary.isLocalListener },
  clock,
  log,
  metrics: metrics.forwarding,
});

server.listeners.answerWith(front.answer);
const url = await server.listen();
await service?.start(url);
process.stdout.write(`listens on ${url}\n`);
process.on('disconnect', () => process.exit());
