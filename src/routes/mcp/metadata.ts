import { z } from 'zod';
import { reply, route } from '../../http/route.ts';
import { METADATA_PATH, RESOURCE_PATH, SCOPE } from '../../protocols/mcp/challenge.ts';
import { ErrorBody } from '../../schema/error-body.ts';
import { NotFound } from '../../schema/outcome.ts';

/** The metadata of the MCP endpoint as an OAuth resource server (RFC 9728, identity.md 3.7). */

/** @param issuers URLs of the trusted identity providers */
export const metadataRoutes = (issuers: readonly string[]) =>
  PATHS.map(({ path, id, about }) =>
    route.get(path, {
      id,
      summary: 'Metadata of the MCP endpoint as an OAuth resource server',
      description: `${about} MCP clients read it to find the identity provider that issues their access tokens. 404 without a configured identity provider.`,
      tag: 'MCP',
      needs: 'nothing',
      responses: { 200: ResourceMetadata, 404: ErrorBody },
      handle: ({ origin }) => reply(200, metadataOf(issuers, origin()), { 'cache-control': 'no-store' }),
    }),
  );

const PATHS = [
  {
    path: `${METADATA_PATH}${RESOURCE_PATH}`,
    id: 'getMcpResourceMetadata',
    about: 'As RFC 9728 defines it.',
  },
  {
    path: METADATA_PATH,
    id: 'getResourceMetadata',
    about: 'The same document at the root, where some clients look for it.',
  },
] as const;

/** @throws NotFound */
const metadataOf = (issuers: readonly string[], origin: string): ResourceMetadata => {
  if (issuers.length === 0) throw new NotFound('no identity provider is configured (identity.issuers)');
  return {
    resource: `${origin}${RESOURCE_PATH}`,
    authorization_servers: [...issuers],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ['header'],
    resource_name: 'Troupe',
  };
};

const ResourceMetadata = z
  .object({
    resource: z.string(),
    authorization_servers: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.string()),
    resource_name: z.string(),
  })
  .meta({ id: 'ProtectedResourceMetadata', description: 'Metadata of an OAuth resource server (RFC 9728).' });
type ResourceMetadata = z.infer<typeof ResourceMetadata>;
