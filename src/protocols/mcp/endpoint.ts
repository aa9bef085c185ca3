import type { RequestHeader } from '../../http/family.ts';
import { type Reply, reply } from '../../http/reply.ts';
import type { EventStream } from '../../http/sse.ts';
import type { Principal } from '../../schema/principal.ts';
import { invalidRequest } from './errors.ts';
import { parseBody, type RpcMessage, type RpcRequest, readMessage } from './messages.ts';
import type { McpProvider } from './provider.ts';
import { ask, deliver, type Session } from './session.ts';
import { createSessions, type SessionsDeps } from './sessions.ts';
import { createStateless, isStateless } from './stateless.ts';
import { SESSION_VERSIONS } from './versions.ts';

/**
 * Handles each request of the endpoint in the order of the checks (mcp.md A2). The caller has been authorized before.
 */
export type McpEndpoint = {
  /** @throws McpError, Unavailable */
  post(request: McpPost): Promise<Reply | EventStream>;
  /** Ends a session. @throws McpError */
  end(request: Pick<McpPost, 'principal' | 'header'>): Reply;
  toolsChanged(): void;
  sessions(): number;
  close(): void;
};

export type McpPost = {
  principal: Principal;
  text: string;
  header: RequestHeader;
  /** Whether the header is present, even if empty. */
  namesSession: boolean;
};

const VERSION = 'mcp-protocol-version';
const SESSION = 'mcp-session-id';

export const createMcpEndpoint = (deps: SessionsDeps): McpEndpoint => {
  const sessions = createSessions(deps);
  const stateless = createStateless(deps.provider, (err) => {
    deps.log.debug('mcp.invalid_message', { err });
  });

  /** @throws McpError */
  const sessionOf = (principal: Principal, header: RequestHeader): Session => {
    const id = headerIn(header, SESSION);
    if (id === undefined) throw invalidRequest('missing MCP-Session-Id header');
    return sessions.find(principal, id);
  };

  const initialize = async (principal: Principal, request: RpcRequest): Promise<Reply> => {
    const { session, answer } = await sessions.open(principal, request);
    return session ? reply(200, answer, { [SESSION]: session.id }) : reply(200, answer);
  };

  return {
    async post({ principal, text, header, namesSession }) {
      const version = headerIn(header, VERSION);
      const parsed = parseBody(text);
      if (isStateless(parsed.value, version)) return stateless.answer({ principal, header, parsed });
      if (version !== undefined && !SESSION_VERSIONS.includes(version)) throw unsupported(version);
      const message = readMessage(parsed);
      if (message.kind === 'request' && message.method === 'initialize') {
        if (namesSession) throw invalidRequest('initialize requests must not include an MCP session id');
        return initialize(principal, message);
      }
      const session = sessionOf(principal, header);
      const agreed = session.actor.getSnapshot().context.version;
      if (version !== undefined && version !== agreed) throw unsupported(version);
      return take(deps.provider, session, message, principal);
    },
    end({ principal, header }) {
      sessions.end(sessionOf(principal, header));
      return reply(204);
    },
    toolsChanged() {
      sessions.toolsChanged();
      stateless.toolsChanged();
    },
    sessions: sessions.size,
    close() {
      sessions.close();
      stateless.close();
    },
  };
};

const take = async (
  provider: McpProvider,
  session: Session,
  message: RpcMessage,
  principal: Principal,
): Promise<Reply | EventStream> => {
  if (message.kind !== 'request') {
    deliver(session, message);
    return reply(202);
  }
  provider.checkScope(principal, message);
  const pending = ask(session, message, principal);
  if (pending.stream) return pending.stream;
  const answer = await pending.answered;
  // A cancelled request has no response.
  return answer ? reply(200, answer) : reply(202);
};

/** Returns the trimmed value, or undefined if it is blank. */
const headerIn = (header: RequestHeader, name: string): string | undefined =>
  header(name)?.trim() || undefined;

const unsupported = (version: string) => invalidRequest(`unsupported MCP protocol version: ${version}`);
