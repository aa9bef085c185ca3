import { z } from 'zod';
import { nullsAbsent, REDACTED } from './endpoint.ts';
import { headerProblem } from './sendable.ts';

/**
 * The OAuth client of an MCP server entry (identity.md 6.1): tokens of users, or one token of the service.
 */

const httpUrl = (field: string) =>
  z.string().superRefine((text, context) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || !/^https?:$/.test(url.protocol))
      context.addIssue(`auth.${field} must be an absolute http(s) URL`);
    else if (url.username !== '' || url.password !== '')
      context.addIssue(`auth.${field} must not contain user info`);
    else if (text.includes('#')) context.addIssue(`auth.${field} must not contain a fragment`);
  });

/** The characters of RFC 6749, 3.3. */
const Scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, {
  error: 'auth.scopes must contain scopes without blanks, quotation marks and backslashes',
});

const text = (field: string) =>
  z.string().superRefine((value, context) => {
    if (value.trim() === '') context.addIssue(`auth.${field} must not be empty`);
    else if (value === REDACTED) context.addIssue(`auth.${field} cannot be a redacted placeholder`);
    else if (headerProblem(value) !== undefined)
      context.addIssue(`auth.${field} must not contain control characters`);
  });

const Fields = z
  .strictObject({
    type: z.literal('oauth'),
    flow: z.enum(['authorization_code', 'client_credentials']).default('authorization_code').meta({
      description: 'authorization_code: each user connects; client_credentials: one token of the service',
    }),
    client_id: text('client_id').optional().meta({
      description: 'default: a client metadata document, or else dynamic registration',
    }),
    client_secret: text('client_secret').optional().meta({
      description: 'write-only; a replacement without it keeps the stored value, null clears it',
    }),
    scopes: z.array(Scope).max(100).optional().meta({
      description: 'the most that is requested; default: what the server asks for, which the user confirms',
    }),
    issuer: httpUrl('issuer').optional().meta({
      description:
        'the only authorization server that is used; default: the first in the metadata of the server',
    }),
    token_url: httpUrl('token_url').optional().meta({
      description: 'client_credentials: the token endpoint; default: discovered',
    }),
    allow_private: z.boolean().default(false).meta({
      description: 'metadata and token addresses may be non-public; http is accepted on loopback',
    }),
  })
  .superRefine((auth, context) => {
    const { flow, client_id, client_secret, issuer, token_url } = auth;
    if (client_secret !== undefined && client_id === undefined)
      context.addIssue('auth.client_secret needs client_id');
    if (client_secret !== undefined && issuer === undefined)
      context.addIssue('auth.client_secret needs issuer');
    if (flow === 'client_credentials' && client_secret === undefined)
      context.addIssue('auth.flow client_credentials needs client_id and client_secret');
    if (flow === 'authorization_code' && token_url !== undefined)
      context.addIssue('auth.token_url is for the flow client_credentials only');
  });

export const McpAuth = nullsAbsent(Fields).meta({
  id: 'McpAuth',
  description: 'OAuth client for the server. Static `config.headers` cannot be set in addition.',
});
export type McpAuth = z.infer<typeof McpAuth>;

/** Returns the `auth` of a server whose tokens belong to users; undefined for all others. */
export const userAuth = ({ auth }: { auth?: McpAuth | undefined }): McpAuth | undefined =>
  auth?.flow === 'authorization_code' ? auth : undefined;

/** Whether an entry has an `auth` that this version cannot read, such as one that a later version wrote. */
export const hasUnreadableAuth = (spec: Readonly<Record<string, unknown>>): boolean =>
  spec.auth !== undefined && spec.auth !== null && !McpAuth.safeParse(spec.auth).success;
