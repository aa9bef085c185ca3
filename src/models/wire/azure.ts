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
      const { path, headers, body } = wire.encode(call);
      if (!hasDeployments) return { path: path + query, headers, body };
      const { model: _, ...rest } = body;
      return {
        path: `deployments/${encodeURIComponent(call.upstream)}/${path}${query}`,
        headers,
        body: rest,
      };
    },
  };
};
