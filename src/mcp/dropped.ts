import { protocolFailure } from './failure.ts';

/**
 * Fails the sending of a request after its response was passed to the client. The client has settled the request by
 * now, so this failure has no effect; if it dropped the response, the request fails here instead of staying open.
 */
export const failIfDropped = async (): Promise<never> => {
  await new Promise((resolve) => setImmediate(resolve));
  throw protocolFailure('the response of the server was not accepted');
};
