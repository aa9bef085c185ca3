import type { Wire } from './wire.ts';

export type AzureRules = {
  /** `v1` is what the address means without a version. */
  version: string;
  /** Deployments are part of the path, and a body names no model. */
  hasDeployments: boolean;
};

/** A format of OpenAI with the paths of Azure. `upstream` is the name of a deployment. */
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
