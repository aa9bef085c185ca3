/** The protocol core is large, so it is loaded on first use. */

export type Sdk = typeof import('@modelcontextprotocol/server');

let loading: Promise<Sdk> | undefined;

export const loadSdk = (): Promise<Sdk> => {
  loading ??= import('@modelcontextprotocol/server').catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
};
