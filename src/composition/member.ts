import { hostname } from 'node:os';
import { createFront } from '../cluster/front.ts';
import { createMember } from '../cluster/member.ts';
import type { Held, Member, MemberOptions, MemberState, Served } from '../cluster/member-types.ts';
import { createOriginCheck } from '../http/cors.ts';
import { refuseUnseenData } from '../postgres/index.ts';
import { createScratchFolder, type ScratchFolder } from '../processes/scratch-folder.ts';
import { monotonic } from '../schema/clock.ts';
import { createUlids } from '../schema/ulid.ts';
import { withTimeout } from '../schema/with-timeout.ts';
import { type Settings, SettingsError } from '../settings/index.ts';
import { openCopy } from '../store/copy.ts';
import { hostCheckOf } from './http-options.ts';
import { membershipOf } from './membership.ts';
import type { Process } from './process.ts';
import { LAST_REQUESTS_MS, openService, type Service } from './service.ts';
import { createStandby } from './standby.ts';
import type { MemberEnd, Started } from './started.ts';
import { version } from './version.ts';

/**
 * A process as a member of a cluster (cluster.md 16): the sockets, the front behind them, and the membership exist once;
 * a service exists while this member has the data.
 *
 * Loaded only with a database.
 */

/** @throws SettingsError, DatabaseRefused with a message of one line */
export const startMember = async (alone: Process, listen: boolean): Promise<Started> => {
  const { settings, server } = alone;
  if (!listen) throw new SettingsError([NEEDS_LISTENER]);
  const membership = membershipOf(nameOf(settings), () => member);
  const ofProcess: Process = { ...alone, membership };
  const copy = await copyFolder(settings);
  const standby = createStandby(ofProcess, membership, () => member?.active() !== undefined);
  const host = createHost(ofProcess, copy.dir);
  let member: Member | undefined;
  const front = createFront({
    ...frontOptions(ofProcess),
    self: () => member?.self()?.id,
    active: () => member?.active(),
    // The state is read first: that suspends the service if its lease is over.
    own: () => (member && ANSWERS.includes(member.state()) ? host.service()?.answer : undefined),
    local: (req) => (!membership.canServe('active') && standby.answers(req) ? standby.answer : undefined),
    leaseMs: () => member?.leaseMs() ?? settings.cluster.lease_ttl_ms,
    reached: (id, isReached) => member?.reached(id, isReached),
    // On one host the id of the cluster suffices: only programs that can read the database know it.
    secret: () => settings.cluster.secret ?? member?.cluster(),
  });
  server.listeners.answerWith(front.answer);
  let isStopping = false;
  const stop = async (waiting?: (runs: number) => void): Promise<void> => {
    isStopping = true;
    server.stopListening();
    host.onWaiting(waiting);
    await member?.leave();
    await withTimeout(front.answered(), LAST_REQUESTS_MS);
    front.close();
    standby.close();
    await alone.close();
    await copy.remove();
  };
  try {
    const url = await server.listen();
    const joining = createMember({
      ...memberOptions(alone, settings.member.url ?? url),
      open: host.openAt(url),
    });
    member = joining;
    alone.input.signal?.addEventListener('abort', () => void joining.leave(), { once: true });
    await joining.start();
    await joining.whenStanding();
    const ended = new Promise<MemberEnd>((resolve) => {
      void joining.ended.then((end) => (isStopping ? undefined : resolve(end)));
    });
    return { url, membership, service: host.service, stop, ended };
  } catch (error) {
    await stop();
    throw error;
  }
};

/**
 * The states in which requests are passed to the service, which refuses them itself while it is suspended. It is not
 * while it starts (`loading`) and before it is abandoned (`fenced`), when its lease may be over.
 */
const ANSWERS: readonly MemberState[] = ['active', 'doubtful', 'isolated', 'draining'];

const NEEDS_LISTENER =
  'SERVICE_DATABASE_URL (database.url): not allowed without a listener: other members forward requests to this process';

const nameOf = ({ member }: Settings): string => member.name ?? hostname();

const frontOptions = ({ settings, clock, log, metrics, server: { boundary } }: Process) => ({
  name: nameOf(settings),
  listener: {
    scheme: boundary.tls ? ('https' as const) : ('http' as const),
    isLocal: boundary.isLocalListener,
    acceptsHost: hostCheckOf(settings, boundary.host),
  },
  allowsOrigin: createOriginCheck(settings.AdminApiConfig.cors_allowed_origins),
  bodyTimeoutMs: settings.body_timeout_ms,
  clock,
  log,
  metrics: metrics.forwarding,
});

const memberOptions = (
  { settings, log, clock, metrics, actors }: Process,
  url: string,
): Omit<MemberOptions, 'open'> => {
  const { database, cluster, durability, secrets_key, scope_id, AdminApiConfig, storage_dir } = settings;
  const ulid = createUlids();
  return {
    database: {
      url: database.url ?? '',
      schema: database.schema,
      pooled: database.pooled,
      poolSize: database.pool_size,
      leaseTtlMs: cluster.lease_ttl_ms,
      durability,
      now: clock.now,
      newId: () => ulid(),
    },
    name: nameOf(settings),
    url,
    program: version,
    agreed: {
      secrets_check: secrets_key,
      settings_hash: {
        SERVICE_SCOPE_ID: scope_id,
        SERVICE_ADMIN_API_BEARER_TOKEN: AdminApiConfig.bearer_token,
      },
    },
    check: (opened) => refuseUnseenData(opened, storage_dir),
    clock: { now: clock.now, monotonic: () => monotonic(clock) },
    log,
    metrics: metrics.cluster,
    actors: { began: (actor) => actors.began(actor, scope_id) },
  };
};

/** The service of this member while it has the data. */
type Host = {
  service(): Service | undefined;
  openAt(url: string): MemberOptions['open'];
  /** Receives the number of executing runs while a service is being drained. */
  onWaiting(waiting: ((runs: number) => void) | undefined): void;
};

const createHost = (ofProcess: Process, dir: string): Host => {
  const { settings } = ofProcess;
  let service: Service | undefined;
  let waiting: ((runs: number) => void) | undefined;
  const served = (opened: Service): Served => ({
    suspend: opened.suspend,
    resume: opened.resume,
    async drain() {
      await opened.stop(settings.shutdown_timeout_ms, (runs) => waiting?.(runs));
      service = undefined;
    },
    async abandon() {
      service = undefined;
      await opened.abandon();
    },
    figures() {
      const { used_bytes, rows } = opened.foundation.store.stats();
      return { ...opened.work(), copyBytes: used_bytes, lineages: rows.threads ?? 0 };
    },
  });
  return {
    service: () => service,
    openAt: (url) => async (held) => {
      const opened = await openOnCopy(ofProcess, held, dir);
      try {
        opened.assertReachable();
        service = opened;
        await opened.start(url);
      } catch (error) {
        service = undefined;
        await opened.abandon();
        throw error;
      }
      return served(opened);
    },
    onWaiting(listener) {
      waiting = listener;
    },
  };
};

const openOnCopy = async (ofProcess: Process, held: Held, dir: string): Promise<Service> => {
  const { settings, log } = ofProcess;
  const { durability, secrets_key: secretsKey, files } = settings;
  const { sink, rows, copyBroken } = held;
  const store = await openCopy({
    dir,
    durability,
    sink,
    rows,
    copyBroken,
    warn: (problem) => log.warn('store.notice', { problem }),
    ...(secretsKey !== undefined && { secretsKey }),
    ...(files.enabled && { inlineMaxBytes: files.inline_max_bytes }),
  });
  const onCopy = { ...ofProcess, settings: { ...settings, storage_dir: dir } };
  return openService(onCopy, { store, sink: undefined, close: store.close });
};

/** The folder of the copy, which is removed at the end unless the settings name it. */
const copyFolder = async ({ cluster: { copy_dir } }: Settings): Promise<ScratchFolder> =>
  copy_dir === undefined ? createScratchFolder('copy') : { dir: copy_dir, remove: () => Promise.resolve() };
