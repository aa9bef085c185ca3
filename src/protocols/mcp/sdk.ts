/** The protocol core is large: only who is asked in MCP loads it. */

export type Sdk = typeof import('@modelcontextprotocol/server');

let loading: Promise<Sdk> | undefined;

export const loadSdk = (): Promise<Sdk> => {
  loading ??= import('@modelcontextprotocol/server').catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
};
