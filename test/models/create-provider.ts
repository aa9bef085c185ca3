import { createProvider as createWith } from '../../src/models/provider.ts';
import type { Environment } from '../../src/models/provider-options.ts';
import type { Transport } from '../../src/models/transport/types.ts';
import { createTransport } from '../../src/models/transport.ts';
import type { ProviderSpec } from '../../src/schema/model.ts';

/** Shared by the whole file; its idle connections do not keep the process alive. */
const TRANSPORT = createTransport();

/** A provider whose requests use real sockets. */
export const createProvider = (spec: ProviderSpec, env: Environment) => createWith(spec, env, TRANSPORT);

const refused = async (): Promise<never> => {
  throw new Error('no provider is called here');
};

/** The transport of a service whose models are all scripted or come from the embedding program. */
export const NO_TRANSPORT: Transport = { stream: refused, text: refused, close: async () => {} };
