import { createProvider as createWith } from '../../src/models/provider.ts';
import type { Environment } from '../../src/models/provider-options.ts';
import type { Transport } from '../../src/models/transport/types.ts';
import { createTransport } from '../../src/models/transport.ts';
import type { ProviderSpec } from '../../src/schema/model.ts';

/** Of the whole file; its idle connections do not keep the process. */
const TRANSPORT = createTransport();

/** A provider whose requests reach real sockets. */
export const createProvider = (spec: ProviderSpec, env: Environment) => createWith(spec, env, TRANSPORT);

const refused = async (): Promise<never> => {
  throw new Error('no provider is called here');
};

/** Of a service in which every model is scripted or comes from the program. */
export const NO_TRANSPORT: Transport = { stream: refused, text: refused, close: async () => {} };
