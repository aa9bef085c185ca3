import { createIds } from '../../composition/ids.ts';
import { createAuditLog } from '../../configuration/control-plane/audit-log.ts';
import { createOwnedThreads } from '../../identity/access/owned-threads.ts';
import { createIdentity } from '../../identity/index.ts';
import { descendants } from '../../schema/lineage.ts';
import { Invalid, Unavailable } from '../../schema/outcome.ts';
import { checkPartitionOf, partitionOf } from '../../schema/partition.ts';
import { adminIn, nameOf } from '../../schema/principal.ts';
import { createUlids } from '../../schema/ulid.ts';
import { openStore, type Page, type Position, type Store } from '../../store/index.ts';
import { readEnvironment } from '../environment.ts';
import { givenFlags, readSettings } from '../setting-flags.ts';
import type { IdentityService, ServiceOptions } from './api.ts';

/**
 * The keys and users in the data directory of a stopped service. A user of the host who can write the directory acts as
 * the admin, and changes are audited as those of `~admin`.
 *
 * @throws Unavailable while a service uses the directory
 */
export const openFolder = async (options: ServiceOptions): Promise<IdentityService> => {
  const {
    storage_dir: dir,
    secrets_key,
    scope_id,
    audit_log,
    identity: settings,
  } = await readSettings(givenFlags(options), readEnvironment());
  const warn = (problem: string): void => {
    process.stderr.write(`${problem}\n`);
  };
  const store = await openStore({
    dir,
    durability: 'power',
    warn,
    ...(secrets_key !== undefined && { secretsKey: secrets_key }),
  });
  const clock = { now: Date.now };
  const audit = createAuditLog({
    store,
    clock,
    ulid: createUlids(),
    settings: audit_log,
    observe: { event() {}, failed() {}, pruned() {} },
    log: { warn },
  });
  const { keys, users } = createIdentity({
    store,
    clock,
    ids: createIds(),
    audit,
    threads: createOwnedThreads(store, () =>
      Promise.reject(new Unavailable('start the service to delete threads')),
    ),
    settings,
    // Requests are not judged here.
    adminToken: undefined,
    failed() {},
  });
  const principal = adminIn(options.ofScope ?? scope_id);
  const { scope, credential } = principal;
  const user = nameOf(principal);
  const by = { principal, caller: { actor: user, request_id: null, user, scope, credential } };
  return {
    createKey: (key) => keys.create(by, key),
    keys: async () => everyRow((page) => store.keys.page({ scope }, page, keys.view)).map(keys.view),
    rotateKey: (id, grace_secs) => keys.rotate(by, id, grace_secs),
    async revokeKey(id, { cancelRuns }) {
      if (cancelRuns) throw new Invalid('--cancel-runs needs a running service: not allowed with --offline');
      await keys.revoke(by, id);
    },
    users: async () => everyRow((page) => store.users.page(scope, page, users.view)).map(users.view),
    user: async (id) => users.get(principal, id),
    changeUser: (id, change) => users.update(by, id, change),
    ownerless: {
      withResource: async () =>
        everyRow((page) => store.threads.list(scope, { root: true }, page)).flatMap(
          ({ thread: { id, resource_id } }) => (resource_id === undefined ? [] : { id, resource_id }),
        ),
      give: (id, owner) => give(store, { scope, id, owner, at: clock.now() }),
    },
    async close() {
      audit.close();
      await store.close();
    },
  };
};

/** The service is stopped, so no run of the thread executes. */
const give = async (
  store: Store,
  { scope, id, owner, at }: { scope: string; id: string; owner: string; at: number },
): Promise<void> => {
  const heir = { scope, user: owner };
  checkPartitionOf(heir);
  const threads = [id, ...descendants((above) => store.threads.children(scope, above), id)];
  const batch = store.batch({ scope, thread_id: id });
  const plan = store.transfers.plan({ from: scope, to: partitionOf(heir), threads, at });
  await store.transfers.add(batch, plan);
  await store.commit(batch, 'input');
};

const PAGE = 1000;

const everyRow = <Row>(read: (page: Page) => { items: Row[]; next?: Position }): Row[] => {
  const rows: Row[] = [];
  let after: Position | undefined;
  do {
    const page = read({ limit: PAGE, offset: 0, ...(after && { after }) });
    rows.push(...page.items);
    after = page.next;
  } while (after);
  return rows;
};
