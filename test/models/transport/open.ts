import type { Test } from 'tap';
import {
  createTransport,
  type Transport,
  type TransportOptions,
} from '../../../src/models/transport/transport.ts';

/** A transport that is closed when the test ends. */
export const openTransport = (t: Test, options: TransportOptions = {}): Transport => {
  const transport = createTransport(options);
  t.teardown(() => transport.close());
  return transport;
};
