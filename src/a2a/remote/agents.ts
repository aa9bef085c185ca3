import type { RemoteEndpoint } from '../../schema/endpoint.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import type { RemoteAgent } from '../../tools/remote-agent.ts';
import { cancelTask, createConversation } from './conversation.ts';
import { createRequests, type Fetch } from './requests.ts';
import { type Actors, createPlayer, type Timers } from './turn.ts';

/**
 * Remote agents over HTTP+JSON (a2a.md 12.3 to 12.9).
 *
 * Guarantees: each turn is one actor of the remote-task machine, which makes all decisions. The outcome resolves as
 * soon as it is determined; an abandoned task is cancelled in the background.
 * Cost: one actor and one request per turn, and until it is settled either one open stream or an occasional request.
 */
type RemoteDeps = {
  log: Pick<ServiceLog, 'warn'>;
  /** Notified of each actor whose turn has a run. */
  actors?: Actors;
  fetch?: Fetch;
  timers?: Timers;
  idleMs?: number;
};

/** Servers send a comment about every 15 s. */
const IDLE_MS = 60_000;

/**
 * @example
 * const remoteAgent = createRemoteAgents({ log });
 * const outcome = await remoteAgent(spec.endpoint).converse(turn);
 */
export const createRemoteAgents = (deps: RemoteDeps): ((endpoint: RemoteEndpoint) => RemoteAgent) => {
  const { log, fetch = globalThis.fetch, idleMs = IDLE_MS } = deps;
  const play = createPlayer(deps);
  return (endpoint) => {
    const { options } = endpoint;
    const requests = createRequests(endpoint, fetch);
    return {
      key: `a2a:${requests.base}`,
      async converse(turn) {
        const own = turn.trace ? createRequests(endpoint, fetch, turn.trace) : requests;
        const conversation = createConversation({ requests: own, options, turn, idleMs, log });
        turn.leave?.throwIfAborted();
        if (turn.signal.aborted && !turn.follow) return conversation.givenUp('cancelled');
        return play(endpoint, turn, conversation);
      },
      cancel: (task_id) => cancelTask({ requests, log }, task_id),
    };
  };
};
