import type { Test } from 'tap';
import { createFront, type Front, type FrontDeps } from '../../src/cluster/front.ts';
import type { Peer } from '../../src/cluster/peer.ts';
import type { Answer } from '../../src/http/answer.ts';
import { createListeners, type Listeners } from '../../src/http/listeners.ts';
import type { Route } from '../../src/http/route.ts';
import { LISTENER, type Served, type ServeOptions, serve } from '../http/serve.ts';

/** Two members of a cluster without a database: `owner` serves, and `entry` forwards to it. */

export const SECRET = 'a secret that only members have, of 32 characters';

/** Its pages may read responses. */
export const PAGE = 'https://page.test';

/** State of a member that tests change. */
export type Known = {
  self: string | undefined;
  active: Peer | undefined;
  own: Answer | undefined;
  secret: string | undefined;
  now: number;
  leaseMs: number;
};

export type TestMember = {
  name: string;
  known: Known;
  front: Front;
  port: number;
  url: string;
  listeners: Pick<Listeners, 'fetch' | 'answerWith'>;
  /** Results of attempts to forward. */
  results: string[];
  reached: [id: string, ok: boolean][];
  streams(): number;
  warnings: string[];
};

type Given = Partial<Omit<FrontDeps, 'self' | 'active' | 'own' | 'secret' | 'leaseMs' | 'name'>>;

const frontFor = (name: string, known: Known, given: Given) => {
  const results: string[] = [];
  const reached: [string, boolean][] = [];
  const warnings: string[] = [];
  let streams = 0;
  const front = createFront({
    name,
    self: () => known.self,
    active: () => known.active,
    own: () => known.own,
    secret: () => known.secret,
    leaseMs: () => known.leaseMs,
    reached: (id, ok) => reached.push([id, ok]),
    bodyTimeoutMs: 60_000,
    listener: { scheme: 'http', isLocal: true },
    allowsOrigin: (origin) => origin === PAGE,
    clock: { now: () => known.now },
    log: { warn: (event) => warnings.push(event) },
    metrics: {
      forwarded: (result) => results.push(result),
      stream(delta) {
        streams += delta;
      },
    },
    ...given,
  });
  return { name, known, front, results, reached, warnings, streams: () => streams };
};

const knownAs = (self: string): Known => ({
  self,
  active: undefined,
  own: undefined,
  secret: SECRET,
  now: Date.now(),
  leaseMs: 7300,
});

/** A member without a service. */
export const startEntry = async (t: Test, name: string, given: Given = {}): Promise<TestMember> => {
  const made = frontFor(name, knownAs(`id-${name}`), given);
  const listeners = createListeners({ log: { warn() {} } });
  listeners.answerWith(made.front.answer);
  const { port = 0 } = await listeners.listen(LISTENER, { host: '127.0.0.1', port: 0 });
  t.teardown(() => {
    made.front.close();
    listeners.close();
  });
  return { ...made, listeners, port, url: `http://127.0.0.1:${port}` };
};

/** A member that serves the routes. */
export const startOwner = async (
  t: Test,
  name: string,
  routes: Route[],
  options: ServeOptions = {},
): Promise<TestMember & { served: Served }> => {
  const served = await serve(t, routes, { member: name, ...options });
  const made = frontFor(name, knownAs(`id-${name}`), {});
  made.known.own = served.server.answer;
  served.server.answerWith(made.front.answer);
  t.teardown(() => made.front.close());
  return { ...made, listeners: served.server, port: served.port, url: served.url, served };
};

export const peerOf = ({ known, name, url }: TestMember): Peer => ({ id: known.self ?? '', name, url });

export const startPair = async (t: Test, routes: Route[], options: ServeOptions = {}, given: Given = {}) => {
  const owner = await startOwner(t, 'owner', routes, options);
  const entry = await startEntry(t, 'entry', given);
  entry.known.active = peerOf(owner);
  return { owner, entry };
};
