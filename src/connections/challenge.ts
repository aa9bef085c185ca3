/** The challenge of an MCP server for a token (RFC 6750, section 3; RFC 9728, section 5.1). */
export type Challenge = {
  error: string | undefined;
  /** Undefined if the server does not name any. */
  scopes: readonly string[] | undefined;
  resourceMetadata: string | undefined;
};

export const NO_CHALLENGE: Challenge = { error: undefined, scopes: undefined, resourceMetadata: undefined };

/** Longer headers are not read. */
const LONGEST = 8192;

const PARAMETER = /(?<name>[\w-]{1,64})\s{0,8}=\s{0,8}(?:"(?<quoted>(?:[^"\\]|\\.)*)"|(?<plain>[^\s,"]+))/g;

/** @param header the value of `WWW-Authenticate`; challenges of other schemes are skipped */
export const parseChallenge = (header: string | undefined): Challenge => {
  const [, parameters] = (header ?? '').slice(0, LONGEST).split(/(?:^|[\s,])bearer(?:\s+|$)/i);
  if (parameters === undefined) return NO_CHALLENGE;
  const found = new Map<string, string>();
  for (const { groups = {} } of parameters.matchAll(PARAMETER)) {
    const name = (groups.name ?? '').toLowerCase();
    const value = groups.quoted?.replaceAll(/\\(.)/g, '$1') ?? groups.plain ?? '';
    if (!found.has(name)) found.set(name, value);
  }
  const scope = found.get('scope');
  return {
    error: found.get('error'),
    scopes: scope === undefined ? undefined : scopesIn(scope),
    resourceMetadata: found.get('resource_metadata'),
  };
};

const MOST_SCOPES = 100;

/** Texts that are no scopes are omitted. */
export const scopesIn = (text: string): string[] =>
  [...new Set(text.split(' ').filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(scope)))].slice(
    0,
    MOST_SCOPES,
  );
