import type { Readable, Writable } from 'node:stream';
import { type AuthorizationService, createAuthorizationService } from './composition/authorizations.ts';
import { openConfiguration } from './composition/configuration.ts';
import { createExecution, type Execution } from './composition/execution.ts';
import { type Foundation, openFoundation } from './composition/foundation.ts';
import { openIdentity } from './composition/identity.ts';
import type { AppInput } from './composition/input.ts';
import { createPeers, type Peers } from './composition/peers.ts';
import { createServer, type Server } from './composition/server.ts';
import type { Protocols } from './composition/surface.ts';
import { version } from './composition/version.ts';
import type { Configuration } from './configuration/control-plane/service.ts';
import { type UsedModel, usedModel } from './configuration/control-plane/used-model.ts';
import type { PendingEdits } from './runtime/thread/pending-edits.ts';
import type { Principal } from './schema/principal.ts';
import { withTimeout } from './schema/with-timeout.ts';
import { assertStartable } from './settings/index.ts';

/**
 * The composition root: every module is created and wired in `composition`, in stages that this file puts in order.
 */

export type App = {
  /** `http://host:port` with the port that was bound; empty when the app does not listen. */
  readonly url: string;
  /**
   * Handles a request in-process. Credentials are required as over a socket, but any host is accepted. Libraries that take
   * a `fetch` can use it, with any absolute address; `init` counts for an address only.
   */
  fetch(input: Request | string | URL, init?: RequestInit): Promise<Response>;
  /**
   * Handles a request of the embedding program for a principal.
   * @throws TypeError for a text: a scope alone gives no rights
   */
  fetchAs(principal: Principal, request: Request): Promise<Response>;
  /**
   * Copies the data directory into an empty folder while runs execute. The copy does not contain `secrets.key`.
   * @throws Unavailable
   */
  backup(folder: string): Promise<void>;
  /**
   * Returns a link to the content of a file, which needs no other credential: absolute with `public_url`, else its path
   * and query.
   */
  fileLink(id: string): string;
  /** Ids of the published agents. */
  agents(): readonly string[];
  /** The model that the default agent uses. */
  model(): UsedModel | undefined;
  /** Lists, adds, changes, orders and removes messages that are waiting to join a history. */
  readonly pending: PendingEdits;
  /**
   * Serves agents as MCP tools over a pair of streams, such as those of this process: one message per line, as in the
   * stdio transport of MCP. Resolves once the input has ended and all its requests are answered.
   *
   * @example
   * await troupe.serveMcp({ input: process.stdin, output: process.stdout });
   */
  serveMcp(pipes: { input: Readable; output: Writable }): Promise<void>;
  /**
   * Stops accepting work, waits for executing runs up to the configured timeout, then releases them. `waiting` is
   * called with the number of executing runs, at first and whenever it decreases.
   */
  stop(waiting?: (runs: number) => void): Promise<void>;
};

type Parts = {
  foundation: Foundation;
  peers: Peers;
  accounts: AuthorizationService;
  config: Configuration;
  execution: Execution;
  server: Server;
  /** Absent until the routes have been loaded. */
  protocols?: Protocols;
};

/** @throws SettingsError, Invalid (a record), or an error of the store about its folder */
export const startApp = async (input: AppInput): Promise<App> => {
  const { settings, listen = true } = input;
  // Admin routes need a token, but an app that does not listen is used by its own program only.
  if (listen) assertStartable(settings);
  const parts = await createParts(input);
  const { config, execution, server, foundation, accounts } = parts;
  const url = listen
    ? await server.listen().catch(async (error) => {
        await stop(parts, 0);
        throw error;
      })
    : '';
  accounts.bound(url);
  execution.observability.start();
  // Recovery starts once nothing can fail but the installation: a failed start must not have claimed or called anything.
  execution.recover();
  accounts.recover();
  foundation.files.start();
  const { a2a, mcp, evals } = await loadRoutes(parts, url);
  a2a.start();
  if (settings.mailbox.lifecycle === 'auto') evals.runs.recover();

  const model = (): UsedModel | undefined => usedModel(config.live, settings.default_agent_id);
  logStart(parts, url, model());
  return {
    url,
    async fetch(input, init) {
      const request = input instanceof Request ? input : new Request(input, init);
      return server.http.fetch(request, { from: 'stranger' });
    },
    async fetchAs(principal, request) {
      if (typeof principal === 'string') throw new TypeError('fetchAs needs a principal');
      return server.http.fetch(request, { from: 'program', principal });
    },
    backup: foundation.store.backup,
    fileLink: (id) => foundation.files.links.link(id),
    agents: () => config.live.agents().ids,
    model,
    pending: execution.runtime.pending,
    serveMcp: mcp.serve,
    async stop(waiting) {
      await stop(parts, settings.shutdown_timeout_ms, (runs) => {
        foundation.log.info('service.waiting_for_runs', { runs });
        waiting?.(runs);
      });
      foundation.log.info('service.stopped');
    },
  };
};

/** Health checks are served before the routes are loaded, so a start is complete only afterwards. */
const loadRoutes = async (parts: Parts, url: string): Promise<Protocols> => {
  try {
    parts.protocols = await parts.server.loadRoutes(url);
    return parts.protocols;
  } catch (error) {
    await stop(parts, 0);
    throw error;
  }
};

const createParts = async (input: AppInput): Promise<Parts> => {
  const foundation = await openFoundation(input);
  const peers = createPeers(foundation);
  // Agents of the configuration start runs, which refer to the configuration: its side of the circle is lazy.
  const config = await openConfiguration(foundation, peers, () => execution).catch(async (error) => {
    await peers.close();
    await foundation.stores.close();
    throw error;
  });
  peers.publishTo(config);
  const accounts = createAuthorizationService(foundation, peers.connections, () => execution.runtime);
  const execution: Execution = await createExecution(foundation, config, accounts);
  const identity = openIdentity(foundation, config, execution, accounts);
  const server = createServer(foundation, { peers, config, execution, identity, accounts });
  return { foundation, peers, accounts, config, execution, server };
};

/** Waits up to `patience` milliseconds for executing runs, then shuts everything down. */
const stop = async (
  { foundation, peers, accounts, config, execution, server, protocols }: Parts,
  patience: number,
  waiting: (runs: number) => void = () => {},
): Promise<void> => {
  server.http.stopListening();
  server.inspection.close();
  accounts.stop();
  await protocols?.evals.runs.stop();
  await execution.stop(patience, waiting);
  // The last requests must write before the store closes. A timeout keeps a hanging request from blocking the stop.
  await withTimeout(server.http.answered(), LAST_REQUESTS_MS);
  protocols?.a2a.stop();
  protocols?.mcp.stop();
  await peers.close();
  // One event-loop tick, so that responses to suspended requests reach their sockets.
  await new Promise((resolve) => setImmediate(resolve));
  await server.http.close();
  foundation.files.stop();
  config.close();
  await execution.observability.stop();
  await foundation.accessLog.close();
  await foundation.stores.close();
};

const logStart = (
  { foundation: { log, settings }, server: { inspection } }: Parts,
  url: string,
  model: UsedModel | undefined,
): void => {
  log.info('service.started', {
    url,
    version,
    node: process.version,
    storage_dir: settings.storage_dir,
    ...model,
  });
  const inspectionUrl = inspection.url();
  if (inspectionUrl !== null) log.info('inspection.listening', { url: inspectionUrl });
};

/** Time that a stop waits for requests in progress. */
const LAST_REQUESTS_MS = 5_000;
