import type { Readable, Writable } from 'node:stream';
import type { Configuration } from '../configuration/control-plane/service.ts';
import type { Answer } from '../http/answer.ts';
import { Unavailable } from '../schema/outcome.ts';
import { withTimeout } from '../schema/with-timeout.ts';
import { type AuthorizationService, createAuthorizationService } from './authorizations.ts';
import { openConfiguration } from './configuration.ts';
import { createExecution, type Execution } from './execution.ts';
import { createFoundation, type Foundation } from './foundation.ts';
import { createHttpPart, type HttpPart } from './http-service.ts';
import { openIdentity } from './identity.ts';
import { createPeers, type Peers } from './peers.ts';
import type { Process } from './process.ts';
import type { Stores } from './stores.ts';
import type { Protocols } from './surface.ts';

/**
 * The service of a process: everything that exists for as long as a store is open. A process has at most one at a time.
 *
 * Guarantees: nothing is claimed, called or sent before `start`. After an end nothing of the service is left in the
 * process: no timer, no actor, no reading of the metrics.
 */
export type Service = {
  readonly answer: Answer;
  readonly foundation: Pick<Foundation, 'store' | 'files'>;
  readonly live: Configuration['live'];
  readonly pending: Execution['runtime']['pending'];
  readonly work: Execution['runtime']['work'];
  /** @throws SettingsError when no request could be authenticated */
  assertReachable(): void;
  /**
   * Begins the work, and resumes that of an earlier service. Health checks are answered before; the start is complete when
   * all routes have been loaded.
   *
   * @param url the address of the process; empty if it does not listen
   */
  start(url: string): Promise<void>;
  /** @throws Unavailable before the start is complete */
  serveMcp(pipes: { input: Readable; output: Writable }): Promise<void>;
  /** Cuts event streams off and answers new requests with 503 until `resume`. Runs continue. */
  suspend(): void;
  resume(): void;
  /** Waits up to `patience` milliseconds for executing runs, releases the others, and closes the store. */
  stop(patience: number, waiting?: (runs: number) => void): Promise<void>;
  /** Ends at once, and writes nothing: another process has the data. */
  abandon(): Promise<void>;
};

type Parts = {
  foundation: Foundation;
  peers: Peers;
  accounts: AuthorizationService;
  config: Configuration;
  execution: Execution;
  httpPart: HttpPart;
  /** Absent until the routes have been loaded. */
  protocols?: Protocols;
};

/**
 * @param stores closed with the service, and if it cannot be created
 * @throws Invalid (a record)
 */
export const openService = async (ofProcess: Process, stores: Stores): Promise<Service> => {
  const parts = await createParts(ofProcess, stores);
  const { foundation, config, execution, httpPart } = parts;
  const { http } = httpPart;
  let ending: Promise<void> | undefined;
  const end = (patience: number, waiting?: (runs: number) => void): Promise<void> => {
    ending ??= stop(parts, patience, waiting);
    return ending;
  };
  return {
    answer: http.answer,
    foundation,
    live: config.live,
    pending: execution.runtime.pending,
    work: execution.runtime.work,
    assertReachable: httpPart.assertReachable,
    start: (url) => start(parts, url),
    async serveMcp(pipes) {
      if (!parts.protocols) throw new Unavailable('the service has not started');
      await parts.protocols.mcp.serve(pipes);
    },
    suspend: http.suspend,
    resume: http.resume,
    stop: end,
    async abandon() {
      http.suspend();
      foundation.store.refuse(new Unavailable('this process does not have the data any longer; try again'));
      // A stop in progress waits for runs, which cannot store their ends.
      if (ending) await execution.stop(0, () => {});
      await end(0);
    },
  };
};

const createParts = async (ofProcess: Process, stores: Stores): Promise<Parts> => {
  const foundation = createFoundation(ofProcess, stores);
  const peers = createPeers(foundation);
  try {
    // Agents of the configuration start runs, which refer to the configuration: its side of the circle is lazy.
    const config = await openConfiguration(foundation, peers, () => execution);
    peers.publishTo(config);
    const accounts = createAuthorizationService(foundation, peers.connections, () => execution.runtime);
    const execution: Execution = await createExecution(foundation, config, accounts);
    const identity = openIdentity(foundation, config, execution, accounts);
    const httpPart = createHttpPart(foundation, { peers, config, execution, identity, accounts });
    return { foundation, peers, accounts, config, execution, httpPart };
  } catch (error) {
    await peers.close();
    await foundation.accessLog.close();
    await stores.close();
    throw error;
  }
};

const start = async (parts: Parts, url: string): Promise<void> => {
  const { foundation, accounts, execution, httpPart } = parts;
  accounts.bound(url);
  execution.observability.start();
  // Recovery starts once nothing can fail but the installation: a failed start must not have claimed or called anything.
  execution.recover();
  accounts.recover();
  foundation.files.start();
  const protocols = await httpPart.loadRoutes(url);
  parts.protocols = protocols;
  protocols.a2a.start();
  if (foundation.settings.mailbox.lifecycle === 'auto') protocols.evals.runs.recover();
};

const stop = async (
  { foundation, peers, accounts, config, execution, httpPart: { http }, protocols }: Parts,
  patience: number,
  waiting: (runs: number) => void = () => {},
): Promise<void> => {
  http.drain();
  accounts.stop();
  await protocols?.evals.runs.stop();
  await execution.stop(patience, waiting);
  // The last requests must write before the store closes. A timeout keeps a hanging request from blocking the stop.
  await withTimeout(http.answered(), LAST_REQUESTS_MS);
  protocols?.a2a.stop();
  protocols?.mcp.stop();
  await peers.close();
  // One event-loop tick, so that responses to suspended requests reach their sockets.
  await new Promise((resolve) => setImmediate(resolve));
  http.close();
  protocols?.stopReadings();
  foundation.files.stop();
  config.close();
  await execution.observability.stop();
  await foundation.accessLog.close();
  await foundation.stores.close();
  foundation.metrics.mailbox.closed();
};

/** Time that a stop waits for requests in progress. */
export const LAST_REQUESTS_MS = 5_000;
