import type { Wire } from './wire.ts';

export type AzureRules = {
  /** `v1` is the default of an address without a version. */
  version: string;
  /** Whether the path contains the deployment, so that the body names no model. */
  hasDeployments: boolean;
};

/** Wraps an OpenAI format with the paths of Azure. `upstream` is the name of a deployment. */
export const azureWire = (wire: Wire, { version, hasDeployments }: AzureRules): Wire => {
  const query = version === 'v1' ? '' : `?api-version=${version}`;
  return {
    ...wire,
    encode(call) {
      const encoded = wire.encode(call);
      const { path } = encoded;
      if (!hasDeployments) return { ...encoded, path: path + query };
      const { model: _, ...body } = encoded.body;
      return { ...encoded, path: `deployments/${encodeURIComponent(call.upstream)}/${path}${query}`, body };
    },
  };
};
