import type { Readable, Writable } from 'node:stream';
import { startAlone } from './composition/alone.ts';
import type { AppInput } from './composition/input.ts';
import { createProcess, type Process } from './composition/process.ts';
import type { Service } from './composition/service.ts';
import type { MemberEnd, Started } from './composition/started.ts';
import { version } from './composition/version.ts';
import { type UsedModel, usedModel } from './configuration/control-plane/used-model.ts';
import type { PendingEdits } from './runtime/thread/pending-edits.ts';
import type { ClusterHealth } from './schema/membership.ts';
import { Unavailable } from './schema/outcome.ts';
import type { Principal } from './schema/principal.ts';
import { assertStartable } from './settings/index.ts';

/**
 * The composition root: what exists once in a process (`composition/process.ts`) and the service on its store
 * (`composition/service.ts`), which this file puts in order.
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
  /** Ids of the published agents; none while another member of the cluster has the data. */
  agents(): readonly string[];
  /** The model that the default agent uses; undefined while another member of the cluster has the data. */
  model(): UsedModel | undefined;
  /** The part of this process in a cluster; undefined in embedded mode. */
  member(): { name: string; state: ClusterHealth['member'] } | undefined;
  /** Resolves when the process has left its cluster without `stop`; the process should then end. */
  readonly ended: Promise<MemberEnd>;
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

/** @throws SettingsError, Invalid (a record), or an error of the store about its folder */
export const startApp = async (input: AppInput): Promise<App> => {
  const { settings, listen = true } = input;
  // Admin routes need a token, but an app that does not listen is used by its own program only.
  if (listen) assertStartable(settings);
  const ofProcess = createProcess(input);
  const { log, server } = ofProcess;
  const { url, membership, stop, ended, ...started } = await start(ofProcess, listen);
  const service = (): Service => {
    const current = started.service();
    if (!current) throw new Unavailable('this member does not have the data; another one has them');
    return current;
  };
  const model = (): UsedModel | undefined => {
    const current = started.service();
    return current && usedModel(current.live, settings.default_agent_id);
  };
  logStart(
    ofProcess,
    url,
    membership ? { member: membership.name } : { storage_dir: settings.storage_dir, ...model() },
  );
  return {
    url,
    async fetch(input, init) {
      const request = input instanceof Request ? input : new Request(input, init);
      return server.listeners.fetch(request, { from: 'stranger' });
    },
    async fetchAs(principal, request) {
      if (typeof principal === 'string') throw new TypeError('fetchAs needs a principal');
      return server.listeners.fetch(request, { from: 'program', principal });
    },
    backup: (folder) => service().foundation.store.backup(folder),
    fileLink: (id) => service().foundation.files.links.link(id),
    agents: () => started.service()?.live.agents().ids ?? [],
    model,
    member: () => membership && { name: membership.name, state: membership.health().member },
    ended,
    get pending() {
      return service().pending;
    },
    serveMcp: (pipes) => service().serveMcp(pipes),
    async stop(waiting) {
      await stop((runs) => {
        log.info('service.waiting_for_runs', { runs });
        waiting?.(runs);
      });
      log.info('service.stopped');
    },
  };
};

const start = async (ofProcess: Process, listen: boolean): Promise<Started> => {
  if (ofProcess.settings.database.url === undefined) return startAlone(ofProcess, listen);
  const { startMember } = await import('./composition/member.ts');
  return startMember(ofProcess, listen);
};

const logStart = ({ log, server: { inspection } }: Process, url: string, about: object): void => {
  log.info('service.started', { url, version, node: process.version, ...about });
  const inspectionUrl = inspection.url();
  if (inspectionUrl !== null) log.info('inspection.listening', { url: inspectionUrl });
};
