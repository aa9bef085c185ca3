import type { Transport, TransportOptions } from './transport/types.ts';

/**
 * Connects to model providers. The first request loads the implementation, so that it adds nothing to the startup time
 * of the service.
 *
 * @example
 * const transport = createTransport({ env: process.env });
 * await transport.stream({ url, headers, body }, reader, watchdog);
 */
export const createTransport = (options: TransportOptions = {}): Transport => {
  let opened: Transport | undefined;
  let closed = false;
  const open = async (): Promise<Transport> => {
    const { openTransport } = await import('./transport/open.ts');
    if (closed) throw new Error('the connections to providers are closed');
    opened ??= openTransport(options);
    return opened;
  };
  return {
    stream: async (request, reader, watchdog) => (opened ?? (await open())).stream(request, reader, watchdog),
    text: async (request) => (opened ?? (await open())).text(request),
    async close() {
      closed = true;
      await opened?.close();
    },
  };
};
