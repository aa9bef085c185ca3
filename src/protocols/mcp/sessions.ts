import type { AnyActorRef } from 'xstate';
import { ownPartition } from '../../identity/access/own.ts';
import type { Ids } from '../../schema/clock.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { Unavailable } from '../../schema/outcome.ts';
import { mayAtAll, type Principal } from '../../schema/principal.ts';
import type { AddReader } from '../../schema/reader.ts';
import { unknownSession } from './errors.ts';
import type { RpcRequest } from './messages.ts';
import type { McpProvider } from './provider.ts';
import { closeSession, createSession, initialize, type Session, toolsChanged, versionIn } from './session.ts';

/**
 * The sessions of all clients, in memory (mcp.md A6).
 *
 * Guarantees: an issued id is valid until its session has ended, and a busy session is never evicted. Idle sessions are
 * ordered by last use, so the oldest is found at once.
 */
export type Sessions = {
  /** @throws Unavailable when the limit is reached and every session is busy */
  open(
    principal: Principal,
    request: RpcRequest,
  ): Promise<{ session: Session | undefined; answer: object | undefined }>;
  /** @throws McpError 404 */
  find(principal: Principal, id: string): Session;
  end(session: Session): void;
  /** Notifies clients with an open stream. */
  toolsChanged(): void;
  readonly size: () => number;
  /** Ends all sessions. */
  close(): void;
};

export type SessionsDeps = {
  provider: McpProvider;
  ids: Ids;
  actors: { began(actor: AnyActorRef, scope: string): () => void };
  /** Malformed client messages are logged at level debug only. */
  log: Pick<ServiceLog, 'debug'>;
  settings: { mcp_session_idle_secs: number; mcp_session_max: number };
  /** Receives the sessions of users, which end with the rights of their principals. */
  addReader: AddReader;
};

export const createSessions = ({
  provider,
  ids,
  actors,
  log,
  settings,
  addReader,
}: SessionsDeps): Sessions => {
  const open: OpenSessions = { idle: new Map(), busy: new Map() };
  let closed = false;
  return {
    async open(principal, request) {
      if (closed) throw new Unavailable('the service is stopping');
      const session = await createSession({
        provider,
        principal,
        actorId: ids.uuid(),
        idleMs: settings.mcp_session_idle_secs * 1000,
        report: (err) => log.debug('mcp.invalid_message', { err }),
      });
      const { actor } = session;
      const gone = actors.began(actor, session.scope);
      actor.subscribe({
        next: (state) => state.hasTag('known') && place(open, session),
        complete() {
          remove(open, session);
          closeSession(session);
          gone();
        },
      });
      actor.start();
      const answer = await initialize(session, request);
      const version = versionIn(answer);
      if (version === undefined || closed) {
        actor.send({ type: 'REFUSED' });
        return { session: undefined, answer };
      }
      try {
        makeRoom(open, settings.mcp_session_max);
      } catch (error) {
        actor.send({ type: 'REFUSED' });
        throw error;
      }
      actor.send({ type: 'OPENED', version });
      const leave = addReader({
        principal,
        endsWithCredential: false,
        isAllowed: (present) => mayAtAll(present, 'invoke'),
        end: () => actor.send({ type: 'DELETE' }),
      });
      actor.subscribe({ complete: leave });
      return { session, answer };
    },
    find(principal, id) {
      const session = open.idle.get(id) ?? open.busy.get(id);
      // Sessions of other scopes and users are treated as unknown.
      if (session?.scope !== ownPartition(principal)) throw unknownSession();
      return session;
    },
    end: ({ actor }) => actor.send({ type: 'DELETE' }),
    toolsChanged() {
      for (const session of open.busy.values()) toolsChanged(session);
    },
    size: () => size(open),
    close() {
      closed = true;
      for (const { actor } of [...open.idle.values(), ...open.busy.values()]) actor.send({ type: 'STOP' });
    },
  };
};

/** Sessions by id, those with the oldest use first. */
type OpenSessions = { readonly idle: Map<string, Session>; readonly busy: Map<string, Session> };

const size = ({ idle, busy }: OpenSessions): number => idle.size + busy.size;

const remove = ({ idle, busy }: OpenSessions, { id }: Session): void => {
  idle.delete(id);
  busy.delete(id);
};

const place = (open: OpenSessions, session: Session): void => {
  remove(open, session);
  const isBusy = session.actor.getSnapshot().matches({ open: 'busy' });
  (isBusy ? open.busy : open.idle).set(session.id, session);
};

/** @throws Unavailable if no session can be evicted */
const makeRoom = (open: OpenSessions, most: number): void => {
  if (size(open) < most) return;
  const [oldest] = open.idle.values();
  if (!oldest) throw new Unavailable('too many MCP sessions are busy');
  oldest.actor.send({ type: 'EVICT' });
};
