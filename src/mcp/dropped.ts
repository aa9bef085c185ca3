import { protocolFailure } from './failure.ts';

/**
 * Ends the sending of a request whose response was handed to the client. The client has settled the request by now,
 * and this failure has no effect; if it dropped the response, the request fails here instead of staying open.
 */
export const failIfDropped = async (): Promise<never> => {
  await new Promise((resolve) => setImmediate(resolve));
  throw protocolFailure('the response of the server was not accepted');
};
