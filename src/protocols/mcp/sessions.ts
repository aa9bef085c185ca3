import type { AnyActorRef } from 'xstate';
import type { Ids } from '../../schema/clock.ts';
import { Unavailable } from '../../schema/outcome.ts';
import { unknownSession } from './errors.ts';
import type { RpcRequest } from './messages.ts';
import type { McpProvider } from './provider.ts';
import { closeSession, createSession, initialize, type Session, toolsChanged, versionIn } from './session.ts';

/**
 * The sessions of all clients, in memory (mcp.md A6).
 *
 * Guarantees: an id that was given out is known until its session has ended; one that is busy is never ended to make
 * room. Those that are idle are kept in the order in which they were used, so the oldest is found at once.
 */
export type Sessions = {
  /** @throws Unavailable when every session that may be kept is busy */
  open(
    scope: string,
    request: RpcRequest,
  ): Promise<{ session: Session | undefined; answer: object | undefined }>;
  /** @throws McpError 404 */
  find(scope: string, id: string): Session;
  end(session: Session): void;
  /** Clients with an open stream are told. */
  toolsChanged(): void;
  readonly size: () => number;
  /** Ends all of them. */
  close(): void;
};

export type SessionsDeps = {
  provider: McpProvider;
  ids: Ids;
  actors: { began(actor: AnyActorRef, scope: string): () => void };
  /** What strangers send is for who looks for it. */
  log: { debug(data: object, text: string): void };
  settings: { mcp_session_idle_secs: number; mcp_session_max: number };
};

export const createSessions = ({ provider, ids, actors, log, settings }: SessionsDeps): Sessions => {
  const idle = new Map<string, Session>();
  const busy = new Map<string, Session>();
  const size = (): number => idle.size + busy.size;
  let closed = false;

  const forget = (session: Session): void => {
    idle.delete(session.id);
    busy.delete(session.id);
    closeSession(session);
  };

  const place = (session: Session): void => {
    const { id, actor } = session;
    idle.delete(id);
    busy.delete(id);
    (actor.getSnapshot().matches({ open: 'busy' }) ? busy : idle).set(id, session);
  };

  const makeRoom = (): void => {
    if (size() < settings.mcp_session_max) return;
    const [oldest] = idle.values();
    if (!oldest) throw new Unavailable('too many MCP sessions are busy');
    oldest.actor.send({ type: 'EVICT' });
  };

  return {
    async open(scope, request) {
      if (closed) throw new Unavailable('the service is stopping');
      const session = await createSession({
        provider,
        scope,
        actorId: ids.uuid(),
        idleMs: settings.mcp_session_idle_secs * 1000,
        report: (err) => log.debug({ err }, 'an MCP client sent what nobody understands'),
      });
      const { actor } = session;
      const gone = actors.began(actor, scope);
      actor.subscribe({
        next: (state) => state.hasTag('known') && place(session),
        complete() {
          forget(session);
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
        makeRoom();
      } catch (error) {
        actor.send({ type: 'REFUSED' });
        throw error;
      }
      actor.send({ type: 'OPENED', version });
      return { session, answer };
    },
    find(scope, id) {
      const session = idle.get(id) ?? busy.get(id);
      // That of another scope does not exist for this one.
      if (session?.scope !== scope) throw unknownSession();
      return session;
    },
    end: ({ actor }) => actor.send({ type: 'DELETE' }),
    toolsChanged() {
      for (const session of busy.values()) toolsChanged(session);
    },
    size,
    close() {
      closed = true;
      for (const { actor } of [...idle.values(), ...busy.values()]) actor.send({ type: 'STOP' });
    },
  };
};
