import { ModelError } from '../errors.ts';
import { anthropicWire } from './anthropic.ts';
import type { Wire } from './wire.ts';

const VERSION = 'vertex-2023-10-16';
const PREFIX = /^publishers\/anthropic\/models\//;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]*$/;

/**
 * The Messages protocol on Vertex AI: the path contains the model, the body the version. `publishers`: the path from
 * the base URL to the publishers' folder.
 */
export const vertexAnthropicWire = (publishers: string): Wire => {
  const wire = anthropicWire();
  return {
    ...wire,
    encode(call) {
      const name = call.upstream.replace(PREFIX, '');
      if (!NAME.test(name)) {
        throw new ModelError('invalid_request', `'${call.upstream}' is not the name of a model`);
      }
      const encoded = wire.encode({ ...call, upstream: name });
      const { model: _, ...body } = encoded.body;
      const { 'anthropic-version': __, ...headers } = encoded.headers;
      return {
        ...encoded,
        path: `${publishers}anthropic/models/${name}:streamRawPredict`,
        headers,
        body: { anthropic_version: VERSION, ...body },
      };
    },
  };
};
