import type { JSONRPCRequest } from '@modelcontextprotocol/client';
import type { JsonObject } from '../schema/endpoint.ts';
import { REFUSED } from './message.ts';
import { Refusal } from './refusal.ts';
import { type AskModel, sample } from './sampling.ts';

/** Handles requests of servers to this client (mcp.md B6), except pings. */

export type ServerQuestion = {
  method: string;
  params: Record<string, unknown> | undefined;
  /** The request of this client on whose stream it arrived. */
  asker: JSONRPCRequest | undefined;
  signal: AbortSignal;
};

const UNSUPPORTED = -32_601;
const INVALID_PARAMS = -32_602;

/** @throws Refusal */
export const answerQuestion = async (
  { method, params, signal }: ServerQuestion,
  /** Model access of the agent whose call the server is executing. */
  askModel: AskModel | undefined,
): Promise<JsonObject> => {
  if (method === REFUSED) throw new Refusal(INVALID_PARAMS, String(params?.reason));
  if (method === 'sampling/createMessage') {
    if (!askModel) throw new Refusal(UNSUPPORTED, 'Sampling not supported by this client');
    return sample(params, askModel, signal);
  }
  if (method === 'roots/list') {
    throw new Refusal(UNSUPPORTED, 'roots/list not supported (client did not advertise roots capability)');
  }
  throw new Refusal(UNSUPPORTED, `Method not supported: ${method}`);
};
