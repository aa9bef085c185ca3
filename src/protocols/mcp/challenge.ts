import type { ErrorForm } from '../../http/errors.ts';
import type { Family } from '../../http/family.ts';
import { Forbidden } from '../../schema/outcome.ts';
import { mcpErrors } from './errors.ts';

/**
 * The challenges of the endpoint as an OAuth resource server (identity.md 3.7): a client without an access token, or
 * with a bad one, learns where the metadata is, and a client whose token is limited learns which scopes the call needs.
 */

export const RESOURCE_PATH = '/v1/mcp';
export const METADATA_PATH = '/.well-known/oauth-protected-resource';
/** The scope with which a client can call all agents that its user may invoke. */
export const SCOPE = 'invoke';

export type Challenge = {
  /** The URL of the metadata. */
  metadata: string;
  /** Whether the request has a credential. */
  hasCredential: boolean;
};

/** Reads the headers of a request, which are valid only during its callback. */
export type ChallengeFor = (request: Parameters<Family['errors']>[0]) => Challenge;

export const challengeTo: ChallengeFor = ({ header, origin }) => ({
  metadata: `${origin()}${METADATA_PATH}${RESOURCE_PATH}`,
  hasCredential: header('authorization') !== undefined,
});

export const challengingErrors =
  (challenge: Challenge): ErrorForm =>
  (error, requestId) => {
    const answer = mcpErrors(error, requestId);
    const parameters = parametersOf(challenge, answer.status, error);
    if (!parameters) return answer;
    const text = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
    return { ...answer, headers: { ...answer.headers, 'www-authenticate': `Bearer ${text.join(', ')}` } };
  };

/** Values have no character that a quoted string would have to escape: URLs and grants encode them. */
const parametersOf = (
  { metadata, hasCredential }: Challenge,
  status: number,
  error: unknown,
): Readonly<Record<string, string>> | undefined => {
  if (status === 401) {
    return { ...(hasCredential && { error: 'invalid_token' }), resource_metadata: metadata, scope: SCOPE };
  }
  if (!(error instanceof Forbidden) || !error.scopes) return undefined;
  return { error: 'insufficient_scope', resource_metadata: metadata, scope: error.scopes.join(' ') };
};
