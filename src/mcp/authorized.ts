import type { IncomingMessage } from 'node:http';
import type { ActingAccount } from '../schema/account.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import { McpFailure, wordsOf } from './failure.ts';
import { ask, discard, type HttpPeer, type HttpQuestion } from './http-request.ts';
import type { AuthRequired, TokenRefusal, TokenSource } from './token-source.ts';

/**
 * Requests with an access token (MCP 2025-11-25, authorization).
 *
 * Guarantees: a request that the server rejected because of its token is sent once more, with another token. The token
 * is sent to the origin of the entry only, since `ask` follows no other redirect.
 */

/** Returns the token of the next request. @throws McpFailure `unauthorized` without a usable one */
export type Authorize = (refusal?: TokenRefusal) => Promise<string>;

/** No token of the account can be used. */
export class Unauthorized extends McpFailure {
  readonly needed: AuthRequired;

  constructor(needed: AuthRequired) {
    super('unauthorized', `server '${needed.server}' needs a connection`);
    this.needed = needed;
  }
}

/** @throws McpFailure */
export const createAuthorize =
  (tokens: TokenSource, account: ActingAccount, spec: McpServerSpec): Authorize =>
  async (refusal) => {
    const answer = await tokens.token(account, spec, refusal).catch((cause: unknown) => {
      throw new McpFailure('unavailable', wordsOf(cause), { cause });
    });
    if (answer.type === 'token') return answer.token;
    if (answer.type === 'refused') throw new McpFailure('unavailable', answer.message);
    throw new Unauthorized(answer);
  };

/** @throws McpFailure */
export const askAuthorized = async (
  peer: HttpPeer,
  question: HttpQuestion,
  authorize: Authorize | undefined,
): Promise<IncomingMessage> => {
  if (!authorize) return ask(peer, question);
  const token = await authorize();
  const answer = await ask(peer, withToken(question, token));
  const refusal = refusalIn(answer, token);
  if (!refusal) return answer;
  discard(answer, peer.timeoutMs);
  return ask(peer, withToken(question, await authorize(refusal)));
};

const withToken = ({ headers, ...question }: HttpQuestion, token: string): HttpQuestion => ({
  ...question,
  headers: { ...headers, authorization: `Bearer ${token}` },
});

/** A 403 without this challenge is a response of the server like any other. */
const refusalIn = ({ statusCode, headers }: IncomingMessage, token: string): TokenRefusal | undefined => {
  const challenge = headers['www-authenticate'];
  if (statusCode === 401) return { token, status: 401, challenge };
  if (statusCode !== 403 || !challenge?.includes('insufficient_scope')) return undefined;
  return { token, status: 403, challenge };
};
